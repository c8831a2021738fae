// Values that the browser stores between visits; in memory where it stores nothing (private windows,
// full disks).

const inMemory = new Map();

export function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? inMemory.get(name) ?? "null");
  } catch {
    return null;
  }
}

export function write(name, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(name, text);
    inMemory.delete(name);
  } catch {
    inMemory.set(name, text);
  }
}

export function forget(name) {
  inMemory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}

export function names(prefix) {
  let stored = [];
  try {
    stored = Object.keys(localStorage);
  } catch {
    // Nothing was kept.
  }
  return [...new Set([...stored, ...inMemory.keys()])].filter((name) => name.startsWith(prefix));
}

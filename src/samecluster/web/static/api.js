// Requests to the server: JSON over the same origin. They fail in two ways: Refused (the server said
// no, and why) and Unreachable (nobody answered; try again later).

const ROOT = "/api/v1/";

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }

  get needsLink() {
    return this.status === 401;
  }
}

export class Unreachable extends Error {}

export function get(path, seconds = 30) {
  return answered(path, { method: "GET", signal: AbortSignal.timeout(1000 * seconds) });
}

export function post(path, body = {}, seconds = 30) {
  return answered(path, { ...written(body), signal: AbortSignal.timeout(1000 * seconds) });
}

// Sent while the page is closed: nobody reads the reply.
export function leaveWord(path, body = {}) {
  fetch(ROOT + path, { ...written(body), keepalive: true }).catch(() => {});
}

export function address(path) {
  return ROOT + path;
}

function written(body) {
  return {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Samecluster": "1" },
    body: JSON.stringify(body),
  };
}

async function answered(path, options) {
  let response;
  let body;
  try {
    response = await fetch(ROOT + path, { cache: "no-store", ...options });
    body = await response.json();
  } catch (error) {
    throw new Unreachable(`the server did not answer (${error.name})`);
  }
  if (response.ok) return body;
  const text = typeof body?.error === "string" ? body.error : `status ${response.status}`;
  if ([408, 429, 502, 503, 504].includes(response.status)) throw new Unreachable(text);
  throw new Refused(text, response.status);
}

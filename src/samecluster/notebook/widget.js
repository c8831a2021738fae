// The widget: the page in a frame of its own, whose requests go to the kernel.

export default {
  render({ model, el }) {
    const address = URL.createObjectURL(new Blob([PAGE], { type: "text/html" }));
    const frame = document.createElement("iframe");
    frame.title = "samecluster";
    frame.style.cssText = "border: 1px solid #8a909a; border-radius: 8px; box-sizing: border-box; height: min(clamp(680px, 1180px - 60vw, 800px), 90vh); width: 100%";
    frame.src = address;
    const own = crypto.getRandomValues(new Uint32Array(2)).join("-");
    const waiting = new Map();
    let count = 0;
    const ask = ({ source, data, ports }) => {
      if (source !== frame.contentWindow || data?.samecluster === undefined) return;
      count += 1;
      const id = `${own}-${count}`;
      waiting.set(id, ports[0]);
      model.send({ id, ...data.samecluster });
    };
    const answer = (reply) => {
      waiting.get(reply.id)?.postMessage(reply);
      waiting.delete(reply.id);
    };
    addEventListener("message", ask);
    model.on("msg:custom", answer);
    el.append(frame);
    return () => {
      removeEventListener("message", ask);
      model.off("msg:custom", answer);
      URL.revokeObjectURL(address);
    };
  },
};

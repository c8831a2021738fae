// The button and the form that give a cluster a name.

import { post } from "./api.js";
import { button, element } from "./elements.js";
import { clusterName } from "./wording.js";

const LONGEST = 200;

export function renameCluster(cluster, app, done) {
  const holder = element("div", { class: "renaming" });
  const close = () => holder.replaceChildren(open);
  const open = button(
    cluster.name ? "Rename" : "Name",
    () => {
      holder.replaceChildren(form(cluster, app, close, done));
      holder.querySelector("input").select();
    },
    { "aria-label": `${cluster.name ? "Rename" : "Name"} ${clusterName(cluster)}` },
  );
  close();
  return holder;
}

function form(cluster, app, close, done) {
  const input = element("input", {
    value: cluster.name ?? "",
    maxlength: LONGEST,
    required: true,
    "aria-label": `New name of ${clusterName(cluster)}`,
    on: { keydown: (event) => event.key === "Escape" && close() },
  });
  const send = async (event) => {
    event.preventDefault();
    try {
      await post(`clusters/${cluster.number}/name`, { name: input.value.trim() });
      close();
      await done();
    } catch (error) {
      app.notify(error.message);
    }
  };
  return element(
    "form",
    { on: { submit: send } },
    input,
    element("button", { class: "main" }, "Save"),
    button("Cancel", close),
  );
}

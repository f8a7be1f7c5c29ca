/** The page around the description. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Handback API</title>
<link rel="stylesheet" href="reference.css">
<header><h1>Handback API</h1><label>Bearer <input id="key" type="password" autocomplete="off" placeholder="none"></label>
<a href="openapi.json">openapi.json</a></header>
<main id="routes">…</main>
<script src="reference.js" type="module"></script>
`;

/** How it looks. */
export const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap; }
h1 { font-size: 1.4rem; margin: 0; flex: 1; }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
details { border-top: 1px solid #8884; padding: .4rem 0; }
summary { cursor: pointer; display: flex; gap: .6rem; flex-wrap: wrap; }
summary b { width: 4rem; } summary code { flex: 1; min-width: 14rem; } summary span { opacity: .7; }
form { display: grid; gap: .4rem; margin: .6rem 0; }
label { display: flex; gap: .5rem; } form label code { width: 11rem; }
input, textarea, select { flex: 1; font: 13px/1.4 ui-monospace, monospace; }
textarea { min-height: 7rem; }
pre { overflow: auto; max-height: 24rem; padding: .6rem; background: #8882; }
button { justify-self: start; padding: .3rem 1rem; }
`;

/** What it does: one form for each route, and what the server answers to it. Everything is set as text, never as markup. */
export const SCRIPT = `const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const sample = (schema = {}) => {
  const { type, properties = {}, required = [], anyOf, enum: options, default: preset, const: fixed } = schema;
  if (preset !== undefined) return preset;
  if (fixed !== undefined) return fixed;
  if (options) return options[0];
  if (anyOf) return sample(anyOf[0]);
  if (type === "object") return Object.fromEntries(required.map((name) => [name, sample(properties[name])]));
  return { string: "", integer: 1, number: 1, boolean: true, array: [] }[type] ?? {};
};

const route = (method, path, { summary, parameters = [], requestBody, responses }) => {
  const [type, { schema, example } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const fields = parameters.map((parameter) => ({ ...parameter, input: make("input", { required: parameter.required, title: parameter.description ?? "" }) }));
  const body = type && make("textarea", { spellcheck: false, value: type === "application/json" ? JSON.stringify(example ?? sample(schema), null, 2) : "" });
  const output = make("pre", { hidden: true });
  const send = async (event) => {
    event.preventDefault();
    const of = (place) => fields.filter((field) => field.in === place && field.input.value !== "");
    const target = of("path").reduce((url, { name, input }) => url.replace("{" + name + "}", encodeURIComponent(input.value)), path);
    const query = new URLSearchParams(of("query").map(({ name, input }) => [name, input.value])).toString();
    const key = document.getElementById("key").value;
    const headers = Object.fromEntries(of("header").map(({ name, input }) => [name, input.value]));
    if (key) headers.authorization = "Bearer " + key;
    if (type) headers["content-type"] = type;
    Object.assign(output, { hidden: false, textContent: "…" });
    try {
      const response = await fetch(target.slice(1) + (query && "?" + query), { method: method.toUpperCase(), headers, ...(body && { body: body.value }) });
      output.textContent = response.status + " " + response.statusText + "\\n";
      if (response.headers.get("content-type")?.startsWith("application/json")) {
        output.textContent += JSON.stringify(await response.json(), null, 2);
      } else {
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader?.read(); part && !part.done; part = await reader.read()) output.textContent += part.value;
      }
    } catch (error) {
      output.textContent = String(error);
    }
  };
  const form = make("form", { onsubmit: send });
  for (const { name, input } of fields) form.append(make("label", {}, make("code", { textContent: name }), input));
  if (body) form.append(body);
  form.append(make("button", { textContent: "Send" }), output);
  const shapes = make("details", {}, make("summary", { textContent: "Schemas and errors" }));
  shapes.append(make("pre", { textContent: JSON.stringify({ ...(schema && { body: schema }), responses }, null, 2) }));
  const head = make("summary", {}, make("b", { textContent: method.toUpperCase() }), make("code", { textContent: path }), make("span", { textContent: summary }));
  return make("details", {}, head, form, shapes);
};

const { paths, tags } = await (await fetch("openapi.json")).json();
const main = document.getElementById("routes");
main.textContent = "";
for (const { name, description } of tags) {
  main.append(make("h2", { textContent: description }));
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) if (operation.tags.includes(name)) main.append(route(method, path, operation));
}
`;

// The API description page: draws /api/v1/openapi.json, and lets a person try each endpoint. Talks to this server only.
"use strict";

const $ = (id) => document.getElementById(id);
const METHODS = ["get", "post", "put", "patch", "delete"];
let api;

function make(tag, attributes = {}, ...children) {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

function resolve(schema) {
  return schema?.$ref ? resolve(schema.$ref.split("/").slice(1).reduce((at, key) => at[key], api)) : schema ?? {};
}

function say(schema, depth = 0) {
  const name = schema?.$ref?.split("/").pop();
  const s = resolve(schema);
  if (s.enum) return s.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (s.const !== undefined) return JSON.stringify(s.const);
  const arms = s.anyOf ?? s.oneOf;
  if (arms) return arms.map((arm) => say(arm, depth)).join(" | ");
  if (s.type === "array") return `[${s.items ? say(s.items, depth + 1) : ""}, …]`;
  if (s.type === "object" && s.properties && depth < 2)
    return `{${Object.entries(s.properties).map(([key, value]) => `${key}${s.required?.includes(key) ? "" : "?"}: ${say(value, depth + 1)}`).join(", ")}}`;
  return [s.type ?? name ?? "any"].flat().join(" | ");
}

function limits(schema) {
  const s = resolve(schema);
  const words = { minimum: "at least", maximum: "at most", minLength: "min. characters:", maxLength: "max. characters:", minItems: "min. items:", maxItems: "max. items:", default: "default" };
  return Object.entries(words).filter(([key]) => s[key] !== undefined).map(([key, word]) => `${word} ${JSON.stringify(s[key])}`);
}

function operations() {
  return Object.entries(api.paths).flatMap(([path, methods]) => METHODS.filter((method) => methods[method]).map((method) => {
    const op = methods[method];
    const params = op.parameters.map((p) => ({ name: p.name, place: p.in, required: p.required, schema: p.schema ?? p.content["application/json"].schema }));
    const form = op.requestBody?.content["application/x-www-form-urlencoded"].schema ?? { properties: {} };
    for (const [name, schema] of Object.entries(form.properties))
      params.push({ name, place: "form", required: form.required?.includes(name) ?? false, schema });
    return { path, op, params, method: method.toUpperCase(), id: op.operationId, feature: op.tags[0] };
  }));
}

function drawParam(param, inputs, changed) {
  const input = make("input", { ariaLabel: param.name, placeholder: param.required ? "required" : "", oninput: changed });
  inputs.set(param, input);
  const about = [resolve(param.schema).description ?? param.schema.description ?? "", ...limits(param.schema)].filter(Boolean);
  const what = make("span", { className: "what" }, make("code", { textContent: say(param.schema) }));
  if (about.length) what.append(make("br"), about.join(" · ").replaceAll("`", ""));
  return make("div", { className: "param" }, make("span", { className: "name" }, param.name, param.required ? make("i", { textContent: " *", title: "required" }) : ""), what, input);
}

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function sample(schema) {
  const s = resolve(schema);
  const value = s.enum?.[0] ?? s.const ?? { integer: 1, number: 1, boolean: true, array: [], object: {} }[s.type] ?? "…";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function request(endpoint, inputs, samples = false) {
  let path = endpoint.path;
  const query = new URLSearchParams();
  const form = new URLSearchParams();
  for (const [param, input] of inputs) {
    if (param.place === "path") path = path.replace(`{${param.name}}`, input.value ? encodeURIComponent(input.value) : `{${param.name}}`);
    else if (input.value !== "" || (samples && param.required)) (param.place === "query" ? query : form).set(param.name, input.value || sample(param.schema));
  }
  return { url: location.origin + path + (query.size ? `?${query}` : ""), form };
}

function curl(endpoint, inputs) {
  const { url, form } = request(endpoint, inputs, true);
  const lines = [`curl -sS -X ${endpoint.method} ${quote(url)}`];
  if (endpoint.op.security.some((way) => way.credentials)) lines.push(`-u ${quote(`${$("email").value || "EMAIL"}:API_KEY`)}`);
  for (const [name, value] of form) lines.push(`--data-urlencode ${quote(`${name}=${value}`)}`);
  return lines.join(" \\\n  ");
}

async function tryIt(endpoint, inputs, status, output) {
  const { url, form } = request(endpoint, inputs);
  const headers = {};
  if ($("key").value && endpoint.op.security.length) headers.Authorization = `Basic ${btoa(`${$("email").value}:${$("key").value}`)}`;
  const started = performance.now();
  status.className = "";
  status.textContent = "Sending…";
  try {
    const reply = await fetch(url, { method: endpoint.method, headers, body: form.size ? form : undefined, credentials: "omit" });
    const text = await reply.text();
    status.textContent = `${reply.status} in ${Math.round(performance.now() - started)} ms`;
    status.className = reply.ok ? "ok" : "bad";
    output.textContent = text.startsWith("{") ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch (error) {
    status.textContent = `No answer from the server: ${error.message}`;
    status.className = "bad";
  }
  output.hidden = output.textContent === "";
}

function fill(details, endpoint) {
  const { op, params } = endpoint;
  const inputs = new Map();
  const example = make("pre");
  const status = make("span", { role: "status" });
  const output = make("pre", { hidden: true });
  const changed = () => { example.textContent = curl(endpoint, inputs); };
  if (op.description) details.append(make("p", { className: "says-more", textContent: op.description.replaceAll("`", "") }));
  if (params.length) details.append(make("h3", { textContent: "Parameters" }), make("div", {}, ...params.map((param) => drawParam(param, inputs, changed))));
  const fields = resolve(op.responses["200"].content["application/json"].schema).allOf?.[1];
  if (fields) details.append(make("h3", { textContent: "Answer" }), make("pre", { textContent: say(fields) }));
  const send = make("button", { type: "button", textContent: "Try it", onclick: () => tryIt(endpoint, inputs, status, output) });
  details.append(make("h3", { textContent: "Example" }), example, make("div", { className: "actions" }, send, status), output);
  changed();
}

function drawEndpoint(endpoint) {
  const open = endpoint.op.security.length === 0 ? make("span", { className: "tag", textContent: "no login" }) : "";
  const summary = make("summary", {}, make("span", { className: `method ${endpoint.method}`, textContent: endpoint.method }),
    make("span", { className: "path", textContent: endpoint.path }), open, make("span", { className: "says", textContent: endpoint.op.summary }));
  const details = make("details", { id: endpoint.id }, summary);
  details.addEventListener("toggle", () => { if (details.open && details.childElementCount === 1) fill(details, endpoint); });
  const link = make("a", { href: `#${endpoint.id}`, title: endpoint.op.summary, onclick: () => { details.open = true; } },
    make("span", { className: `method ${endpoint.method}`, textContent: endpoint.method }), make("span", { className: "path", textContent: endpoint.path.replace("/api/v1", "") }));
  const text = `${endpoint.method} ${endpoint.path} ${endpoint.id} ${endpoint.op.summary} ${endpoint.feature} ${endpoint.params.map((p) => p.name).join(" ")}`.toLowerCase();
  return { details, link, text };
}

function draw() {
  $("title").textContent = `${api.info.title} ${api.info.version}`;
  $("description").textContent = api.info.description ?? "";
  const groups = Map.groupBy ? Map.groupBy(operations(), (e) => e.feature) : operations().reduce((map, e) => map.set(e.feature, [...(map.get(e.feature) ?? []), e]), new Map());
  const drawn = [...groups].sort().map(([feature, endpoints]) => {
    const rows = endpoints.map(drawEndpoint);
    const section = make("section", {}, make("h2", { textContent: feature[0].toUpperCase() + feature.slice(1) }), ...rows.map((row) => row.details));
    const links = make("section", {}, make("h2", { textContent: feature }), ...rows.map((row) => row.link));
    $("endpoints").append(section);
    $("list").append(links);
    return { section, links, rows };
  });
  $("search").addEventListener("input", () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { section, links, rows } of drawn) {
      for (const row of rows) row.details.hidden = row.link.hidden = !words.every((word) => row.text.includes(word));
      section.hidden = links.hidden = rows.every((row) => row.link.hidden);
      shown += rows.filter((row) => !row.link.hidden).length;
    }
    $("nothing").hidden = shown > 0;
  });
  for (const id of ["email", "key"]) {
    $(id).value = sessionStorage.getItem(`tertulia-docs-${id}`) ?? "";
    $(id).addEventListener("input", () => sessionStorage.setItem(`tertulia-docs-${id}`, $(id).value));
  }
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target) { target.open = true; target.scrollIntoView(); }
}

fetch("/api/v1/openapi.json").then((reply) => reply.json()).then((document) => { api = document; draw(); })
  .catch((error) => { $("description").textContent = `The description could not be loaded: ${error.message}`; });

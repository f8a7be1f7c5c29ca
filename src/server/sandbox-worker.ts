/**
 * What runs in the sandbox's worker. The walls are the worker, the frame's opaque origin, its CSP and its process; what is taken away here
 * makes for clear errors. Whatever is needed after the code has run is kept before it runs: the code may have changed everything else.
 */
export const WORKER = `(() => {
  const { apply, getPrototypeOf, deleteProperty } = Reflect;
  const { stringify } = JSON;
  const evaluate = eval;
  const AsyncFunction = (async () => {}).constructor;
  const kindOf = Object.prototype.toString;
  const text = String;
  const post = MessagePort.prototype.postMessage;

  addEventListener("message", ({ data: { code, maxOutput }, ports: [port] }) => void run(code, maxOutput, port), { once: true });

  async function run(code, maxOutput, port) {
    for (const name of TAKEN) for (let at = self; at; at = getPrototypeOf(at)) deleteProperty(at, name);
    let said;
    try {
      said = written(await compiled(code)(), maxOutput);
    } catch (thrown) {
      said = told(thrown);
    }
    apply(post, port, [said]);
  }

  /** As a script its value is that of the last expression. With \`return\` or \`await\` it is none: then it is a function's body. */
  function compiled(code) {
    let wrong;
    try {
      evaluate("throw 0;\\n" + code); // parsed whole before any of it runs
    } catch (thrown) {
      if (thrown === 0) return () => evaluate(code);
      wrong = thrown;
    }
    for (const body of ["return (" + code.replace(/[;\\s]+$/, "") + "\\n)", code]) {
      try {
        return new AsyncFunction(body);
      } catch (thrown) {
        if (/await|return/.test(wrong.message)) wrong = thrown;
      }
    }
    throw wrong;
  }

  function written(value, maxOutput) {
    let json;
    try {
      json = stringify({ __proto__: null, ok: true, value: value === undefined ? null : value }, checked);
    } catch (thrown) {
      return told({ name: "ResultError", message: "No result: " + text(thrown.message).split("\\n")[0] });
    }
    if (json.length <= maxOutput + 20) return json;
    return told({ name: "ResultError", message: "The result is longer than " + maxOutput + " characters" });
  }

  /** JSON would leave these out, or make an empty object of them, without a word. */
  function checked(_, value) {
    const type = typeof value;
    const kind = type === "object" ? apply(kindOf, value, []).slice(8, -1) : type;
    if (type === "number" && value - value !== 0) throw { message: "JSON cannot hold " + value };
    if (type === "bigint") throw { message: "JSON cannot hold a BigInt; make it a string" };
    if (PLAIN[kind] !== true) throw { message: "JSON cannot hold a " + kind + "; make it an object, a list or text" };
    return value;
  }

  function told(thrown) {
    try {
      const isError = typeof thrown === "object" && thrown !== null && typeof thrown.message === "string";
      const name = isError ? text(thrown.name) : "Error";
      const message = isError ? thrown.message : text(thrown);
      const said = stringify({ __proto__: null, ok: false, error: { __proto__: null, name: name.slice(0, 100), message: message.slice(0, 2000) } });
      if (typeof said === "string" && said.length < 16000) return said;
    } catch {}
    return UNTELLABLE;
  }

  const UNTELLABLE = stringify({ ok: false, error: { name: "Error", message: "The code threw something that cannot be told" } });
  const PLAIN = { __proto__: null, Object: true, Array: true, Null: true, Number: true, String: true, Boolean: true, number: true, string: true, boolean: true, undefined: true };
  const TAKEN = [
    "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "importScripts", "Worker", "SharedWorker",
    "BroadcastChannel", "Notification", "indexedDB", "caches", "cookieStore", "OffscreenCanvas", "FontFace", "fonts", "postMessage", "close",
  ];
})();`;

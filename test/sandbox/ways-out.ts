/** Ways to tell somebody at `TARGET` something. Each returns when it may have worked, and throws when it was refused. */
export const WAYS_OUT: Record<string, string> = {
  fetch: "await fetch(TARGET, { mode: 'no-cors', keepalive: true }); return 'out'",
  "fetch of data:": "return (await (await fetch('data:text/plain,out')).text())",
  XMLHttpRequest: "const x = new XMLHttpRequest(); x.open('GET', TARGET, false); x.send(); return 'out'",
  WebSocket:
    "return new Promise((resolve, reject) => { const s = new WebSocket(TARGET.replace('http', 'ws')); s.onopen = () => resolve('out'); s.onerror = () => reject(new Error('refused')); })",
  WebSocketStream: "const s = new WebSocketStream(TARGET.replace('http', 'ws')); await s.opened; return 'out'",
  EventSource:
    "return new Promise((resolve, reject) => { const s = new EventSource(TARGET); s.onopen = () => resolve('out'); s.onerror = () => reject(new Error('refused')); })",
  WebTransport: "const t = new WebTransport(TARGET.replace('http', 'https')); await t.ready; return 'out'",
  importScripts: "importScripts(TARGET); return 'out'",
  "importScripts of data:": "importScripts('data:text/javascript,1'); return 'out'",
  "importScripts of blob:": "importScripts(URL.createObjectURL(new Blob(['1'])) ); return 'out'",
  "import()": "await import(TARGET); return 'out'",
  "import() of data:": "await import('data:text/javascript,export default 1'); return 'out'",
  Worker:
    "return new Promise((resolve, reject) => { const w = new Worker(TARGET); w.onmessage = () => resolve('out'); w.onerror = () => reject(new Error('refused')); })",
  "Worker of data:":
    "return new Promise((resolve, reject) => { const w = new Worker('data:text/javascript,postMessage(1)'); w.onmessage = () => resolve('out'); w.onerror = () => reject(new Error('refused')); })",
  "Worker of a Worker":
    "return new Promise((resolve, reject) => { const w = new Worker(URL.createObjectURL(new Blob([\"fetch('\" + TARGET + \"', { mode: 'no-cors' }).then(() => postMessage(1))\"]))); w.onmessage = () => resolve('out'); setTimeout(() => reject(new Error('silence')), 400); })",
  SharedWorker: "new SharedWorker(TARGET); await new Promise((resolve) => setTimeout(resolve, 200)); throw new Error('silence')",
  sendBeacon: "navigator.sendBeacon(TARGET, 'x'); return 'out'",
  FontFace: "const f = new FontFace('x', 'url(' + TARGET + ')'); self.fonts.add(f); await f.load(); return 'out'",
  Image: "new Image().src = TARGET; return 'out'",
  "a page of its own": "document.location = TARGET; return 'out'",
  "its location": "location.href = TARGET; if (location.href === TARGET) return 'out'; throw new Error('stayed')",
  open: "open(TARGET); return 'out'",
  "the page's location": "parent.location = TARGET; return 'out'",
  "the top's location": "top.location = TARGET; return 'out'",
  WebRTC: "const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:UDP' }] }); return 'out'",
  "a service worker": "await navigator.serviceWorker.register(TARGET); return 'out'",
  "a cache": "await (await caches.open('x')).add(TARGET); return 'out'",
  "a background fetch": "await registration.backgroundFetch.fetch('x', TARGET); return 'out'",
  "a notification":
    "new Notification('x', { icon: TARGET }); return Notification.permission === 'granted' ? 'out' : Promise.reject(new Error('denied'))",
  "a source map": "(0, eval)('1 //# sourceMappingURL=' + TARGET); throw new Error('nobody looks')",
  "a stack": "const e = new Error('x'); e.stack = TARGET; throw e",
};

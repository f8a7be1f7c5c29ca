import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import { defineConfig } from "vite";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** What every page needs, and what of it comes only when it is first used. */
const SHELL =
  /console\/src\/(app|data|ui)\/|src\/(client|core)\/|node_modules\/(react|react-dom|scheduler|wouter|regexparam|mitt|use-sync-external-store)\//;
const LATER = /\/(palette|json-editor-view|check-schema|markdown-block|virtual-list-view)\.ts/;

/** `npm run dev -w console` proxies to a server started with `npm start`. */
const target = process.env["HANDBACK_URL"] ?? "http://127.0.0.1:4242";

export default defineConfig({
  // Every address in the page is relative to its <base>, so that it works below any path.
  base: "./",
  plugins: [tailwind()],
  // The library as it is now; an outsider would have it from npm.
  resolve: {
    alias: [
      { find: /^handback\/client$/, replacement: source("client/client.ts") },
      { find: /^handback\/client\/([\w-]+)$/, replacement: source("client/$1/$1.ts") },
      { find: /^handback\/profiles$/, replacement: source("profiles.ts") },
    ],
  },
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the policy allows no script in a data: address
    // "use client" means nothing here, and saying so for each file hides what matters.
    rolldownOptions: {
      onLog: (level, log, handle) => void (log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log)),
      // Few files instead of fifty: what every page needs is one, and so it packs better, too.
      output: {
        codeSplitting: {
          groups: [
            { name: "shell", test: (id: string) => SHELL.test(id) && !LATER.test(id) },
            { name: "icons", test: /lucide-react/, minShareCount: 2 },
          ],
        },
      },
    },
    license: { fileName: "licenses.md" },
  },
  server: { proxy: { "/v1": target, "/sandbox": target } },
});

import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { preloadScreens } from "./preload.ts";

/**
 * Stores every text file of the build as `.br` and `.gz` instead of as it is: the server sends them as they are, and a client that
 * takes neither gets what the `.gz` holds.
 */
function precompress(): Plugin {
  let out = "";
  return {
    name: "precompress",
    apply: "build",
    configResolved(config) {
      out = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith("/")) out = config.build.outDir;
    },
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg|json|txt)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const text = readFileSync(file);
        writeFileSync(file + ".gz", gzipSync(text, { level: 9 }));
        writeFileSync(file + ".br", brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        rmSync(file);
      }
    },
  };
}

const api = process.env["AX_API"] ?? "http://127.0.0.1:7780";

export default defineConfig({
  plugins: [react(), preloadScreens(join(import.meta.dirname, "src/app/routes.tsx")), precompress()],
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    sourcemap: false,
    reportCompressedSize: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    // A browser asks for six files at a time: what every screen needs is one file, what many need another.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "start", tags: ["$initial"], priority: 2 },
            { name: "kit", minShareCount: 4, priority: 1 },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
  server: {
    strictPort: true,
    // The API's Host check wants the address that it listens on; its same-site check wants the origin to be the same.
    proxy: Object.fromEntries(
      ["/api", "/auth", "/healthz", "/readyz", "/metrics"].map((path) => [
        path,
        {
          target: api,
          changeOrigin: true,
          configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", api)),
        },
      ]),
    ),
  },
  test: {
    restoreMocks: true,
    // A document costs more than most tests do, so only components get one.
    projects: [
      { extends: true, test: { name: "pure", environment: "node", include: ["src/**/*.test.ts"] } },
      { extends: true, test: { name: "components", environment: "happy-dom", include: ["src/**/*.test.tsx"] } },
    ],
  },
});

import { defineConfig } from "vitest/config";

// Journeys: one browser against one running program, so one file after the other. A journey that passes only the second time is a fault.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    environment: "node",
    include: ["journeys/*.test.ts"],
    globalSetup: ["lib/program.ts"],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    retry: 0,
  },
});

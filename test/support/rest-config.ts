import { defineConfig } from "../../src/handback.ts";
import { coffeeShop } from "./rest.ts";

/** The coffee shop as a server of its own, for tests that need a process to kill. */
export default defineConfig({ agents: { default: coffeeShop() } });

import { testStore } from "./conformance.ts";
import { memoryStore } from "./memory.ts";

testStore("memory", async () => ({ store: memoryStore() }));

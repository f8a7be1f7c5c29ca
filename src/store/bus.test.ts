import { localBus } from "./bus.ts";
import { testBus } from "./conformance.ts";

testBus("local", async () => localBus());

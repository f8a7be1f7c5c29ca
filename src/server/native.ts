import { Hono } from "hono";
import type { Door } from "./door.ts";

export function nativeRoutes(_door: Door): Hono {
  return new Hono();
}

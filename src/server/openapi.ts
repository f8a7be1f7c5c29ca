import { z } from "zod";
import type { ErrorCode } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { ANSWERS as NATIVE_ANSWERS } from "../protocol/native/schemas.ts";
import { ANSWERS as REST_ANSWERS } from "../protocol/rest/schemas.ts";
import { STATUS } from "./door.ts";
import { AISDK } from "./openapi-aisdk.ts";
import { NATIVE } from "./openapi-native.ts";
import { REST } from "./openapi-rest.ts";
import type { Described } from "./openapi-route.ts";

/** What any route may refuse with. */
const EVERYWHERE: ErrorCode[] = ["invalid", "unauthorized", "forbidden", "not_found", "unavailable", "internal"];

/** What any route with a body may refuse with. */
const WITH_BODY: ErrorCode[] = ["too_large", "unsupported"];

/** The REST, AI SDK and native doors in OpenAPI 3.1, made of the schemas that validate them. */
export function openApi(version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of [...REST, ...AISDK, ...NATIVE]) paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  return {
    openapi: "3.1.0",
    info: { title: "Handback", version, description: "An agent server for tools that run somewhere else." },
    servers: [{ url: "." }],
    security: [{}, { bearer: [] }],
    tags: [
      { name: "rest", description: "Seed 002: tools executed by another system, with nothing but HTTP" },
      { name: "aisdk", description: "For `useChat` and assistant-ui, and seed 004's stateless requests" },
      { name: "native", description: "Everything there is, as `handback/client` uses it" },
    ],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, a JWT, or (for one call) a webhook's token" },
      },
      schemas: { RestError: schemaOf(REST_ANSWERS.error, "output"), NativeError: schemaOf(NATIVE_ANSWERS.error, "output") },
    },
  };
}

function operation(route: Described): JsonObject {
  const { method, path, summary, door, body, bodyType, query, headers = {}, answers, errors, example } = route;
  const described: JsonObject = {
    summary,
    tags: [door],
    operationId: `${method}${path.replaceAll(/[^A-Za-z]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? "")}`,
    parameters: [
      ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => parameter("path", name, { type: "string" }, true)),
      ...(query ? queryParameters(query) : []),
      ...Object.entries(headers).map(([name, description]) => ({ ...parameter("header", name, { type: "string" }), description })),
    ],
    responses: { ...described200(answers, path), ...refusals(door, [...EVERYWHERE, ...(body || bodyType ? WITH_BODY : []), ...errors]) },
  };
  const content = body && { schema: schemaOf(body, "input"), ...(example && { example }) };
  if (content) described["requestBody"] = { required: true, content: { "application/json": content } };
  if (bodyType !== undefined) described["requestBody"] = { required: true, content: { [bodyType]: { schema: { type: "string" } } } };
  return described;
}

function described200(answers: Described["answers"], path: string): JsonObject {
  const responses: JsonObject = {};
  for (const [status, answer] of Object.entries(answers)) {
    const content = answer === undefined ? undefined : answer instanceof z.ZodType ? json(schemaOf(answer, "output")) : text(answer.type);
    if (content && path === "/chat") Object.assign(content, text("text/event-stream"));
    responses[status] = { description: "Done", ...(content && { content }) };
  }
  return responses;
}

function refusals(door: Described["door"], errors: readonly ErrorCode[]): JsonObject {
  const schema = { $ref: `#/components/schemas/${door === "rest" ? "RestError" : "NativeError"}` };
  const responses: JsonObject = {};
  for (const code of new Set(errors)) responses[String(STATUS[code])] = { description: code, content: json(schema) };
  return responses;
}

function queryParameters(query: z.ZodObject): JsonObject[] {
  const { properties = {} } = schemaOf(query, "input") as { properties?: Record<string, JsonObject> };
  return Object.entries(properties).map(([name, schema]) => parameter("query", name, schema));
}

function parameter(place: string, name: string, schema: JsonObject, required = false): JsonObject {
  return { in: place, name, required, schema };
}

function json(schema: JsonObject): JsonObject {
  return { "application/json": { schema } };
}

function text(type: string | string[]): JsonObject {
  return Object.fromEntries([type].flat().map((name) => [name, { schema: { type: "string" } }]));
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" });
  return rest as JsonObject;
}

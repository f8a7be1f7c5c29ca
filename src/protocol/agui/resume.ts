import { z } from "zod";
import type { Resume } from "../../core/command.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";

const name = z
  .string()
  .max(500)
  .nullish()
  .transform((value) => value || undefined);
const json = z.json() as unknown as z.ZodType<Json>;
const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const resumeProps = z.looseObject({
  lineage_id: name,
  checkpoint_id: name,
  resume_map: object.nullish().transform((value) => value ?? undefined),
  resume: json.optional(),
});

/**
 * Seed 003's way to go on with a graph: `lineage_id`, perhaps `checkpoint_id`, and `resume_map` or a single `resume`. `forwardedProps`
 * are the app's own, so a `resume` counts only where a lineage or a checkpoint says what it is for.
 */
export function readResume(forwardedProps: Json | undefined): Resume | undefined {
  if (!isObject(forwardedProps)) return undefined;
  const given = Object.fromEntries(
    Object.keys(resumeProps.shape).flatMap((snake) => {
      const value = snake in forwardedProps ? forwardedProps[snake] : forwardedProps[camel(snake)];
      return value === undefined ? [] : [[snake, value]];
    }),
  );
  const props = parse(resumeProps, given, "forwardedProps");
  const { lineage_id: lineageId, checkpoint_id: checkpointId, resume_map: answers, resume: value } = props;
  const named = lineageId !== undefined || checkpointId !== undefined;
  if (!named && answers === undefined) return undefined;
  return {
    ...(lineageId !== undefined && { lineageId }),
    ...(checkpointId !== undefined && { checkpointId }),
    ...(answers !== undefined ? { answers } : named && value !== undefined && { value }),
  };
}

function camel(snake: string): string {
  return snake.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

import type { ToolSpec } from "handback/client";
import { defineProfile, type Profile, ToolContextBuilder } from "handback/profiles";

/** The parts of a profile that are text and may be changed here. */
export type Draft = { intro: string; definition: string; outro: string };

const MARKS = { name: "{name}", description: "{description}", schema: '"{schema}"' };

/** A profile's texts. Its tool template is code; what it makes of three marks is the same template as text. */
export function draftOf({ intro, definitionTemplate, outro }: Profile): Draft {
  const tool = { name: MARKS.name, description: MARKS.description, input: "{schema}" } as unknown as ToolSpec;
  return { intro, definition: definitionTemplate(tool), outro };
}

/** The profile with changed texts. What was not changed stays code, and so exactly what a server would send. */
export function profileOf(base: Profile, draft: Draft): Profile {
  const original = draftOf(base);
  return defineProfile({
    name: base.name,
    base,
    ...(draft.intro !== original.intro && { intro: draft.intro }),
    ...(draft.outro !== original.outro && { outro: draft.outro }),
    ...(draft.definition !== original.definition && { definitionTemplate: (tool: ToolSpec) => filled(draft.definition, tool) }),
  });
}

function filled(template: string, { name, description, input }: ToolSpec): string {
  const values = { [MARKS.name]: name, [MARKS.description]: description, [MARKS.schema]: JSON.stringify(input) };
  return template.replace(/\{name\}|\{description\}|"\{schema\}"/g, (mark) => values[mark] ?? mark);
}

export function promptOf(profile: Profile, tools: readonly ToolSpec[]): string {
  return new ToolContextBuilder(profile).prompt(tools);
}

/** The draft as code for a configuration. */
export function codeOf(base: Profile, draft: Draft, name: string): string {
  const original = draftOf(base);
  const quoted = (text: string) => `\`${text.replace(/[\\`]|\$\{/g, "\\$&")}\``;
  const hole = (what: string) => `$\{${what}}`;
  const definition = quoted(draft.definition)
    .replaceAll(MARKS.name, hole("name"))
    .replaceAll(MARKS.description, hole("description"))
    .replaceAll(MARKS.schema, hole("JSON.stringify(input)"));
  const lines = [
    draft.intro !== original.intro && `  intro: ${quoted(draft.intro)},`,
    draft.definition !== original.definition && `  definitionTemplate: ({ name, description, input }) => ${definition},`,
    draft.outro !== original.outro && `  outro: ${quoted(draft.outro)},`,
  ].filter(Boolean);
  const baseName = base.name === "Ling" ? "GLM" : base.name; // the same, under the name people look for
  return `import { ${baseName}, defineProfile } from "handback";

export const ${name} = defineProfile({
  name: hole("name"),
  base: ${baseName},
${lines.join("\n")}${lines.length > 0 ? "\n" : ""}});
`;
}

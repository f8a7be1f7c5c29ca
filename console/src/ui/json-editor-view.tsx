import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { checkJson, type JsonProblem } from "./check-json.ts";
import "./check-schema.ts";
import { cx } from "./cx.ts";
import type { JsonEditorProps } from "./json-editor.tsx";
import { problemText } from "./json-problem.ts";

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: [tags.bool, tags.null], color: "var(--code-word)" },
]);

const LOOK = EditorView.theme({
  "&": { fontSize: "12px", backgroundColor: "transparent", color: "var(--fg)" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--font-mono)", padding: "8px 0", caretColor: "var(--fg)" },
  ".cm-line": { lineHeight: "20px", padding: "0 12px 0 6px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none", fontFamily: "var(--font-mono)" },
  ".cm-cursor": { borderLeftColor: "var(--fg)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--quiet-soft)", outline: "1px solid var(--line-strong)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1px", textUnderlineOffset: "3px" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--fg)", border: "1px solid var(--line)", borderRadius: "8px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

export default function JsonEditorView({
  text,
  onChange,
  schema,
  label,
  onSubmit,
  onCancel,
  readOnly = false,
  autoFocus = false,
  language = "json",
  minHeight = 112,
  className,
}: JsonEditorProps) {
  const t = useT();
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ onChange, onSubmit, onCancel, schema });
  latest.current = { onChange, onSubmit, onCancel, schema };
  const check = (content: string) => (language === "json" ? checkJson(content, latest.current.schema) : { value: content, problems: [] });
  const [problems, setProblems] = useState<JsonProblem[]>(() => check(text).problems);
  const bad = useRef(problems.length > 0);
  bad.current = problems.length > 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: one editor for the life of the component; what changes is in `latest`
  useLayoutEffect(() => {
    // In a shadow root the editor's styles are objects; in the page they would be a <style>, which our policy forbids.
    const host = place.current as HTMLElement;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          ...(language === "json" ? [json(), syntaxHighlighting(COLOURS)] : []),
          LOOK,
          EditorView.lineWrapping,
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": label }),
          keymap.of([
            {
              key: "Mod-Enter",
              run: () => {
                if (!bad.current) latest.current.onSubmit?.();
                return latest.current.onSubmit !== undefined;
              },
            },
            {
              key: "Escape",
              run: () => {
                latest.current.onCancel?.();
                return latest.current.onCancel !== undefined;
              },
            },
            ...historyKeymap,
            ...defaultKeymap,
            // Tab leaves the editor, as everywhere on the page; Ctrl+M lets it indent.
            ...(readOnly ? [] : [{ ...indentWithTab, key: "Mod-]" }]),
          ]),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const content = update.state.doc.toString();
            const checked = check(content);
            setProblems(checked.problems);
            latest.current.onChange(content, checked);
          }),
        ],
      }),
    });
    view.current = editor;
    if (autoFocus) editor.focus();
    return () => editor.destroy();
  }, []);

  // A value from outside, such as "reset", takes the place of what was typed.
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const marks = problems.flatMap((problem): Diagnostic[] => {
      if (problem.type !== "syntax") return [];
      const from = Math.min(problem.from, editor.state.doc.length);
      return [{ from, to: Math.min(from + 1, editor.state.doc.length), severity: "error", message: problemText(t, problem) }];
    });
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems, t]);

  return (
    <div className={cx("flex flex-col gap-1.5", className)}>
      <div
        ref={place}
        style={{ minHeight }}
        className={cx(
          "max-h-96 overflow-auto rounded-lg border bg-sunken focus-within:outline-2 focus-within:outline-accent",
          problems.length > 0 ? "border-bad" : "border-line-strong/60",
        )}
      />
      <ul id={`${id}-problems`} aria-live="polite" className="flex flex-col gap-0.5 text-sm text-bad empty:hidden">
        {problems.slice(0, 5).map((problem) => (
          <li key={JSON.stringify(problem)}>{problemText(t, problem)}</li>
        ))}
      </ul>
    </div>
  );
}

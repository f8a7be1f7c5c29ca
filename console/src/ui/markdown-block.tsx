import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useT } from "../i18n/i18n.ts";
import { CodeBlock } from "./code-block.tsx";
import type { CodeLanguage } from "./highlight.tsx";

const PLUGINS = [remarkGfm];

/** One block of markdown. HTML in it is shown as text, images are named and not loaded, links open elsewhere without telling from where. */
export default memo(function MarkdownBlock({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={safeAddress}>
      {text}
    </ReactMarkdown>
  );
});

/** Only what a person may safely follow; everything else is no link. */
function safeAddress(url: string): string | undefined {
  return /^(https?:|mailto:|#)/i.test(url.trim()) ? url : undefined;
}

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => <ImageName address={typeof src === "string" ? src : ""} alt={alt ?? ""} />,
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children);
    const name = /language-([\w-]+)/.exec(className ?? "")?.[1];
    if (name === undefined && !text.includes("\n")) return <code>{text}</code>;
    return <CodeBlock code={text.replace(/\n$/, "")} language={LANGUAGES[name ?? ""] ?? "text"} label={name ?? "code"} />;
  },
  table: ({ children }) => (
    <div className="relative overflow-x-auto" tabIndex={0} role="group" aria-label="table">
      <table>{children}</table>
    </div>
  ),
};

const LANGUAGES: Record<string, CodeLanguage> = {
  json: "json",
  js: "js",
  javascript: "js",
  jsx: "js",
  ts: "js",
  tsx: "js",
  typescript: "js",
  sh: "sh",
  bash: "sh",
  shell: "sh",
  xml: "xml",
  html: "xml",
};

function ImageName({ address, alt }: { address: string; alt: string }) {
  const t = useT();
  return <span className="text-sm text-muted">[{alt || t("ui.imageHidden", { address })}]</span>;
}

import { lazy, memo, Suspense } from "react";
import { cx } from "./cx.ts";
import { splitBlocks } from "./markdown-blocks.ts";

const Block = lazy(() => import("./markdown-block.tsx"));

/**
 * What a model said. Cut into blocks, so that while text streams in only the last one is read again. Nothing in it can
 * become markup, an image or a script; see `markdown-block.tsx`.
 */
export const Markdown = memo(function Markdown({ text, className }: { text: string; className?: string }) {
  return (
    <div className={cx("prose min-w-0 [overflow-wrap:anywhere]", className)}>
      {splitBlocks(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only ever grow at the end
        <Suspense key={index} fallback={<p className="whitespace-pre-wrap">{block}</p>}>
          <Block text={block} />
        </Suspense>
      ))}
    </div>
  );
});

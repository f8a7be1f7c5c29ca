import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type AIMessageChunkFields } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** A LangChain model that says these pieces, one after the other. */
export class ChunkModel extends BaseChatModel {
  readonly #chunks: AIMessageChunkFields[];

  constructor(...chunks: (string | Partial<AIMessageChunkFields>)[]) {
    super({});
    this.#chunks = chunks.map(
      (chunk) => (typeof chunk === "string" ? { content: chunk } : { content: "", ...chunk }) as AIMessageChunkFields,
    );
  }

  override _llmType(): string {
    return "chunks";
  }

  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    for (const fields of this.#chunks) {
      const message = new AIMessageChunk(fields);
      yield new ChatGenerationChunk({ message, text: message.text });
    }
  }

  override async _generate(): Promise<ChatResult> {
    throw new Error("It only streams");
  }
}

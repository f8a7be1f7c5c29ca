import type { IncomingMessage } from "node:http";
import { AppError } from "../../core/error.ts";
import type { ModelEvent } from "../model.ts";
import { chatSpeech } from "./chat-speech.ts";
import { eventStream } from "./event-stream.ts";

/** An answer being heard. */
export type Hearing = {
  /** What was said since the last call; nothing where the answer is over. Throws what broke it, behind all that was said before. */
  next(): Promise<readonly ModelEvent[] | undefined>;
  /** Nobody listens any more: an answer that goes on is cut off, one that is over leaves its connection to the next. */
  hangUp(): void;
};

/** Events that may wait to be taken before the provider has to. */
const MOST = 1024;
const MOST_BODY = 32 * 1024 * 1024;
/** Behind its last word a provider has so long to end its answer properly, which keeps the connection. */
const PARTING_MS = 1_000;

/** Hears the answer to a chat completion: a stream of events or, from servers that do not stream, one JSON value. */
export function listen(response: IncomingMessage, model: string): Hearing {
  let said: ModelEvent[] = [];
  let over = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};

  const speech = chatSpeech(model, (event) => said.push(event));
  const stop = (error?: unknown) => {
    if (over) return;
    over = true;
    if (error !== undefined) {
      failure = { error };
      response.destroy();
    }
    wake();
  };
  const tried = (work: () => void) => {
    try {
      work();
    } catch (error) {
      stop(error);
    }
  };
  const finish = () => {
    speech.end();
    stop();
  };
  const take = (data: string) => {
    if (over) return;
    if (data !== "[DONE]") return speech.take(parse(data));
    finish();
    response.socket?.setTimeout(PARTING_MS);
  };
  const { push, end } = isJson(response) ? whole(take) : eventStream(take);

  response.setEncoding("utf8");
  response.on("data", (text: string) => {
    if (over) return;
    tried(() => push(text));
    if (said.length > MOST) response.pause();
    wake();
  });
  response.on("end", () => {
    tried(() => {
      end();
      if (!over) finish();
    });
  });
  response.on("error", (cause) => stop(lost(cause)));
  response.on("close", () => {
    if (!over) stop(lost());
  });

  return {
    async next() {
      while (said.length === 0 && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (said.length > 0) {
        const events = said;
        said = [];
        if (response.isPaused()) response.resume();
        return events;
      }
      if (failure) throw failure.error;
      return undefined;
    },
    hangUp() {
      if (!over) response.destroy();
    },
  };
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/json\b/i.test(headers["content-type"] ?? "");
}

/** A body that is one value. */
function whole(take: (text: string) => void): ReturnType<typeof eventStream> {
  const pieces: string[] = [];
  let length = 0;
  return {
    push(text) {
      pieces.push(text);
      length += text.length;
      if (length > MOST_BODY) throw new AppError("model", "The model provider sends more at once than can be taken in");
    },
    end: () => take(pieces.join("")),
  };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new Error(`it is not JSON: ${data.slice(0, 100)}`);
  }
}

/** Named as AI SDK providers name it, whose connections are undici's: the same trouble has the same name whatever the model. */
function lost(cause?: Error): Error {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const named = code === undefined || code === "ECONNRESET" ? "UND_ERR_SOCKET" : code;
  return Object.assign(new Error("The connection was lost", { cause }), { code: named });
}

import { textFrame } from './text-frame.ts';

/** What stands before the result, by the method of the notification: there are as many as kinds. */
const heads = new Map<string, Buffer>();

function headOf(method: string): Buffer {
  const known = heads.get(method);
  if (known !== undefined) return known;
  const head = Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":{"result":`);
  heads.set(method, head);
  return head;
}

/**
 * One notification for all who subscribed to the same: its result is written once and only the subscription's id
 * differs from client to client. Clients whose ids are equal share one frame.
 */
export class Notification {
  readonly #head: Buffer;
  readonly #result: Buffer;
  #lastId = -1;
  #lastFrame: Buffer | null = null;

  /**
   * @param method - such as `accountNotification`, one of those of protocol/subscriptions.ts.
   * @param result - raw JSON of `params.result`.
   */
  constructor(method: string, result: Buffer) {
    this.#head = headOf(method);
    this.#result = result;
  }

  /** The whole WebSocket frame for the holder of this subscription id. Shared: not to be modified. */
  frame(id: number): Buffer {
    if (this.#lastFrame !== null && this.#lastId === id) return this.#lastFrame;
    this.#lastId = id;
    this.#lastFrame = textFrame([this.#head, this.#result], `,"subscription":${id}}}`);
    return this.#lastFrame;
  }
}

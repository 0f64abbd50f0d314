import { z } from 'zod';
import { problemText } from '../problem-text.ts';
import { IpcError } from './ipc-error.ts';
import type { IpcHandlers, IpcMethods, RequestOf, ResponseOf } from './ipc-messages.ts';

/** How much may be under way on a line, and how long an answer may take. */
export type IpcLimits = Readonly<{ pendingMax: number; responseTimeoutMs: number }>;

export const ipcLimits: IpcLimits = { pendingMax: 256, responseTimeoutMs: 30_000 };

const message = z.union([
  z.object({ kind: z.literal('question'), id: z.int(), method: z.string(), value: z.unknown() }),
  z.object({ kind: z.literal('answer'), id: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('fault'), id: z.int(), error: z.string() }),
]);

export type IpcMessage = z.output<typeof message>;

type PendingRequest = Readonly<{
  onResponse: (value: unknown) => void;
  onError: (error: Error) => void;
  timer: NodeJS.Timeout;
}>;

export type IpcChannelOptions<Out extends IpcMethods, In extends IpcMethods> = Readonly<{
  outgoing: Out;
  incoming: In;
  handlers: IpcHandlers<In>;
  /** Sends a message; false when the other process is gone. */
  send: (message: IpcMessage) => boolean;
  limits?: Partial<IpcLimits>;
}>;

/** One end of the line between a primary and a worker: questions with their answers, in both directions. */
export class IpcChannel<Out extends IpcMethods, In extends IpcMethods> {
  readonly #options: IpcChannelOptions<Out, In>;
  readonly #limits: IpcLimits;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #isClosed = false;

  constructor(options: IpcChannelOptions<Out, In>) {
    this.#options = options;
    this.#limits = { ...ipcLimits, ...options.limits };
  }

  /** Whether the other end is gone. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Questions that wait for their answers. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * @param answerMs - time for the response.
   * @throws IpcError
   */
  request<Kind extends keyof Out & string>(
    method: Kind,
    value: RequestOf<Out, Kind>,
    timeoutMs: number = this.#limits.responseTimeoutMs,
  ): Promise<ResponseOf<Out, Kind>> {
    if (this.#isClosed) return Promise.reject(new IpcError('nobody is there'));
    if (this.#pending.size >= this.#limits.pendingMax)
      return Promise.reject(new IpcError('too many questions wait for their answers'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => {
        if (this.#removePending(id)) reject(error);
      };
      const onResponse = (response: unknown): void => {
        const read = this.#options.outgoing[method]?.response.safeParse(response);
        if (read?.success !== true) onError(new IpcError(`the answer to "${method}" is none`));
        else if (this.#removePending(id)) resolve(read.data as ResponseOf<Out, Kind>);
      };
      const timer = setTimeout(() => onError(new IpcError(`no answer after ${timeoutMs} ms`)), timeoutMs);
      this.#pending.set(id, { onResponse, onError, timer });
      if (!this.#options.send({ kind: 'question', id, method, value }))
        onError(new IpcError('nobody is there'));
    });
  }

  /** Takes in what came. What is no message of a line is passed over. */
  receive(received: unknown): void {
    const read = message.safeParse(received);
    if (!read.success) return;
    const { data } = read;
    switch (data.kind) {
      case 'question':
        void this.#handleRequest(data.id, data.method, data.value);
        return;
      case 'answer':
        this.#pending.get(data.id)?.onResponse(data.value);
        return;
      case 'fault':
        this.#pending.get(data.id)?.onError(new IpcError(data.error));
    }
  }

  /** Rejects all pending requests. */
  close(): void {
    this.#isClosed = true;
    for (const { onError } of [...this.#pending.values()]) onError(new IpcError('nobody is there any more'));
  }

  /** @returns whether it was waited for. */
  #removePending(id: number): boolean {
    clearTimeout(this.#pending.get(id)?.timer);
    return this.#pending.delete(id);
  }

  async #handleRequest(id: number, method: string, value: unknown): Promise<void> {
    const { send } = this.#options;
    try {
      send({ kind: 'answer', id, value: await this.#callHandler(method, value) });
    } catch (error) {
      send({ kind: 'fault', id, error: problemText(error) });
    }
  }

  /** @throws NoAnswer, and what the answerer throws. */
  async #callHandler(method: string, value: unknown): Promise<unknown> {
    const kinds = this.#options.incoming;
    const kind = Object.hasOwn(kinds, method) ? kinds[method] : undefined;
    if (kind === undefined) throw new IpcError('nobody here knows that question');
    const read = kind.request.safeParse(value);
    if (!read.success) throw new IpcError(`"${method}" was asked in a way that nobody understands`);
    return this.#options.handlers[method as keyof In](read.data as RequestOf<In, keyof In>);
  }
}

import { z } from 'zod';
import { errorText } from '../error-text.ts';
import {
  IpcError,
  type IpcHandlers,
  type IpcMethods,
  type RequestOf,
  type ResponseOf,
} from './ipc-messages.ts';

/** Pending requests of a channel, and the response timeout. */
const ipcLimits = { pendingMax: 256, responseTimeoutMs: 30_000 };
type IpcLimits = Readonly<typeof ipcLimits>;

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

/** One end of the channel between the primary and a worker: requests and responses in both directions. */
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

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get pending(): number {
    return this.#pending.size;
  }

  /**
   * @throws IpcError
   */
  request<Kind extends keyof Out & string>(
    method: Kind,
    value: RequestOf<Out, Kind>,
    timeoutMs: number = this.#limits.responseTimeoutMs,
  ): Promise<ResponseOf<Out, Kind>> {
    if (this.#isClosed) return Promise.reject(new IpcError('the other process has ended'));
    if (this.#pending.size >= this.#limits.pendingMax)
      return Promise.reject(new IpcError('too many pending requests'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => {
        if (this.#removePending(id)) reject(error);
      };
      const onResponse = (response: unknown): void => {
        const read = this.#options.outgoing[method]?.response.safeParse(response);
        if (read?.success !== true) onError(new IpcError(`invalid response to "${method}"`));
        else if (this.#removePending(id)) resolve(read.data as ResponseOf<Out, Kind>);
      };
      const timer = setTimeout(() => onError(new IpcError(`no response after ${timeoutMs} ms`)), timeoutMs);
      this.#pending.set(id, { onResponse, onError, timer });
      if (!this.#options.send({ kind: 'question', id, method, value }))
        onError(new IpcError('the other process has ended'));
    });
  }

  /** Handles a message; ignores those of other kinds. */
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

  close(): void {
    this.#isClosed = true;
    for (const { onError } of [...this.#pending.values()])
      onError(new IpcError('the other process has ended'));
  }

  #removePending(id: number): boolean {
    clearTimeout(this.#pending.get(id)?.timer);
    return this.#pending.delete(id);
  }

  async #handleRequest(id: number, method: string, value: unknown): Promise<void> {
    const { send } = this.#options;
    try {
      send({ kind: 'answer', id, value: await this.#callHandler(method, value) });
    } catch (error) {
      send({ kind: 'fault', id, error: errorText(error) });
    }
  }

  async #callHandler(method: string, value: unknown): Promise<unknown> {
    const kinds = this.#options.incoming;
    const kind = Object.hasOwn(kinds, method) ? kinds[method] : undefined;
    if (kind === undefined) throw new IpcError(`unknown method "${method}"`);
    const read = kind.request.safeParse(value);
    if (!read.success) throw new IpcError(`invalid request "${method}"`);
    return this.#options.handlers[method as keyof In](read.data as RequestOf<In, keyof In>);
  }
}

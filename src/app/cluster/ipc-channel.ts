import { z } from 'zod';
import { OperatorError } from '../../base/operator-error.ts';
import { errorText } from '../error-text.ts';
import type { IpcHandlers, IpcMethods, RequestOf, ResponseOf } from './ipc-messages.ts';

const PENDING_REQUESTS_MAX = 256;
const RESPONSE_TIMEOUT_MS = 30_000;
const PROCESS_ENDED = 'the other process has ended';

const message = z.union([
  z.object({ kind: z.literal('question'), id: z.int(), method: z.string(), value: z.unknown() }),
  z.object({ kind: z.literal('answer'), id: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('fault'), id: z.int(), error: z.string() }),
]);

type IpcMessage = z.output<typeof message>;

type PendingRequest = Readonly<{
  onResponse: (value: unknown) => void;
  onError: (error: Error) => void;
  timer: NodeJS.Timeout;
}>;

type IpcChannelOptions<Out extends IpcMethods, In extends IpcMethods> = Readonly<{
  outgoing: Out;
  incoming: In;
  handlers: IpcHandlers<In>;
  /** Sends a message; returns false if the other process is gone. */
  send: (message: IpcMessage) => boolean;
}>;

/** One end of the channel between the primary and a worker: requests and responses in both directions. */
export class IpcChannel<Out extends IpcMethods, In extends IpcMethods> {
  readonly #options: IpcChannelOptions<Out, In>;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #isClosed = false;

  constructor(options: IpcChannelOptions<Out, In>) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws OperatorError */
  request<Kind extends keyof Out & string>(
    method: Kind,
    value: RequestOf<Out, Kind>,
    timeoutMs = RESPONSE_TIMEOUT_MS,
  ): Promise<ResponseOf<Out, Kind>> {
    if (this.#isClosed) return Promise.reject(new OperatorError(PROCESS_ENDED));
    if (this.#pending.size >= PENDING_REQUESTS_MAX)
      return Promise.reject(new OperatorError('too many pending requests'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => {
        if (this.#removePending(id)) reject(error);
      };
      const onResponse = (response: unknown): void => {
        const read = this.#options.outgoing[method]?.response.safeParse(response);
        if (read?.success !== true) onError(new OperatorError(`invalid response to "${method}"`));
        else if (this.#removePending(id)) resolve(read.data as ResponseOf<Out, Kind>);
      };
      const timer = setTimeout(
        () => onError(new OperatorError(`no response after ${timeoutMs} ms`)),
        timeoutMs,
      );
      this.#pending.set(id, { onResponse, onError, timer });
      if (!this.#options.send({ kind: 'question', id, method, value }))
        onError(new OperatorError(PROCESS_ENDED));
    });
  }

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
        this.#pending.get(data.id)?.onError(new OperatorError(data.error));
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { onError } of [...this.#pending.values()]) onError(new OperatorError(PROCESS_ENDED));
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
    if (kind === undefined) throw new OperatorError(`unknown method "${method}"`);
    const read = kind.request.safeParse(value);
    if (!read.success) throw new OperatorError(`invalid request "${method}"`);
    return this.#options.handlers[method as keyof In](read.data as RequestOf<In, keyof In>);
  }
}

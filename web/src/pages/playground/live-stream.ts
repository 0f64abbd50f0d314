/** A message of a stream, numbered from 1. */
export type LiveMessage = Readonly<{ number: number; at: number; text: string }>;

export type StreamState = 'idle' | 'opening' | 'open' | 'closed';

/** Older messages are dropped. */
const MESSAGES_MAX = 100;

/** A message longer than this is truncated, in characters. */
const MESSAGE_MAX_CHARS = 20_000;

export type StreamSnapshot = Readonly<{
  state: StreamState;
  /** Why the stream ended, or the acknowledgement of the subscription. */
  note: string;
  isFault: boolean;
  received: number;
  /** Newest first. */
  messages: readonly LiveMessage[];
}>;

export const idleStream: StreamSnapshot = {
  state: 'idle',
  note: '',
  isFault: false,
  received: 0,
  messages: [],
};

const RENDER_MS = 100;

/** Collects the messages of one stream, and reports at most ten times a second. */
export class LiveStream {
  readonly #onChange: (snapshot: StreamSnapshot) => void;
  #snapshot: StreamSnapshot = { ...idleStream, state: 'opening' };
  #timer: number | null = null;
  /** Closes the transport; set once it is open. */
  closeTransport: () => void = () => {};

  constructor(onChange: (snapshot: StreamSnapshot) => void) {
    this.#onChange = onChange;
  }

  get isClosed(): boolean {
    return this.#snapshot.state === 'closed';
  }

  open(note: string): void {
    this.#change({ state: 'open', note });
  }

  push(text: string): void {
    if (this.isClosed) return;
    const received = this.#snapshot.received + 1;
    const message = { number: received, at: Date.now(), text: text.slice(0, MESSAGE_MAX_CHARS) };
    this.#change({ received, messages: [message, ...this.#snapshot.messages.slice(0, MESSAGES_MAX - 1)] });
  }

  close(note: string, isFault = false): void {
    if (this.isClosed) return;
    this.#change({ state: 'closed', note, isFault });
    this.closeTransport();
  }

  #change(change: Partial<StreamSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    this.#timer ??= window.setTimeout(() => {
      this.#timer = null;
      this.#onChange(this.#snapshot);
    }, RENDER_MS);
  }
}

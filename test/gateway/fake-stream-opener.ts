import type { Failure } from '../../src/protocol/errors.ts';
import type { StreamOpener, StreamRpc } from '../../src/streams/geyser/geyser-handler.ts';

/** A hub that records its calls. */
export class FakeStreamOpener implements StreamOpener {
  readonly events: string[];
  readonly #name: string;
  refusal: Error | null = null;
  /** What a request on a stream waits for. */
  waits: Promise<void> | null = null;

  constructor(name: string, events: string[]) {
    this.#name = name;
    this.events = events;
  }

  open(rpc: StreamRpc) {
    if (this.refusal !== null) throw this.refusal;
    this.events.push(`${this.#name} opens ${rpc}`);
    return {
      request: async () => {
        if (this.refusal !== null) throw this.refusal;
        await this.waits;
        this.events.push(`${this.#name} gets a request`);
      },
      close: () => void this.events.push(`${this.#name} closes`),
    };
  }

  unary(rpc: string, request: Uint8Array): Uint8Array {
    if (this.refusal !== null) throw this.refusal;
    this.events.push(`${this.#name} answers ${rpc}`);
    return new Uint8Array(request.length * 2);
  }
}

/** The failure a call throws. */
export function refusalOf(call: () => unknown): Failure {
  try {
    call();
  } catch (thrown) {
    return thrown as Failure;
  }
  throw new Error('the call did not throw');
}

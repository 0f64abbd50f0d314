import type { Failure } from '../../src/protocol/errors.ts';
import type { StreamRpc } from '../../src/streams/geyser/geyser-door.ts';
import type { StreamOpener } from '../../src/streams/geyser/stream-opener.ts';

/** A hub that writes down what it was asked, and answers what it is told to. */
export class ToldOpener implements StreamOpener {
  readonly told: string[];
  readonly #name: string;
  refusal: Error | null = null;
  /** What a request on a stream waits for. */
  waits: Promise<void> | null = null;

  constructor(name: string, told: string[]) {
    this.#name = name;
    this.told = told;
  }

  open(rpc: StreamRpc) {
    if (this.refusal !== null) throw this.refusal;
    this.told.push(`${this.#name} opens ${rpc}`);
    return {
      request: async () => {
        if (this.refusal !== null) throw this.refusal;
        await this.waits;
        this.told.push(`${this.#name} is asked`);
      },
      close: () => void this.told.push(`${this.#name} closes`),
    };
  }

  unary(rpc: string, request: Uint8Array): Uint8Array {
    if (this.refusal !== null) throw this.refusal;
    this.told.push(`${this.#name} answers ${rpc}`);
    return new Uint8Array(request.length * 2);
  }
}

/** What a call was refused with. */
export function refusalOf(call: () => unknown): Failure {
  try {
    call();
  } catch (thrown) {
    return thrown as Failure;
  }
  throw new Error('it was not refused');
}

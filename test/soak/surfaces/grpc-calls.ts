import {
  decodeGetBlockHeightResponse,
  decodeGetLatestBlockhashResponse,
  decodeGetSlotResponse,
  decodeGetVersionResponse,
  decodePongResponse,
} from '../../geyser/unary-client.ts';

/** A unary call and the check of its response. */
export type GrpcCall = Readonly<{
  rpc: string;
  /** Fault of a response, or null. */
  fault: (answer: Buffer) => string | null;
}>;

const BLOCKHASH_CHARS_MIN = 32;

/** Heights and slots never decrease: responses to later calls must not be lower. */
class Rising {
  #most = 0n;

  /** Check of the response to a call that is sent now. */
  requested(): (value: bigint) => string | null {
    const least = this.#most;
    return (value) => {
      if (value > this.#most) this.#most = value;
      return value >= least ? null : `${value} after ${least}`;
    };
  }
}

/** Unary calls, in turn. */
export class GrpcCalls {
  readonly #slots = new Rising();
  readonly #heights = new Rising();
  readonly #kinds: readonly (() => GrpcCall)[] = [
    () => {
      const rises = this.#slots.requested();
      return { rpc: 'GetSlot', fault: (answer) => rises(decodeGetSlotResponse(answer)) };
    },
    () => {
      const rises = this.#heights.requested();
      return { rpc: 'GetBlockHeight', fault: (answer) => rises(decodeGetBlockHeightResponse(answer)) };
    },
    () => {
      const rises = this.#slots.requested();
      return { rpc: 'GetLatestBlockhash', fault: (answer) => blockhashFault(answer, rises) };
    },
    () => ({ rpc: 'GetVersion', fault: versionFault }),
    () => ({ rpc: 'Ping', fault: (answer) => (decodePongResponse(answer) === 0 ? null : 'another count') }),
  ];
  #calls = 0;

  next(): GrpcCall {
    return this.#kinds[this.#calls++ % this.#kinds.length]!();
  }
}

function blockhashFault(answer: Buffer, rises: (slot: bigint) => string | null): string | null {
  const { slot, blockhash, lastValidBlockHeight } = decodeGetLatestBlockhashResponse(answer);
  if (blockhash.length < BLOCKHASH_CHARS_MIN || lastValidBlockHeight === 0n) return `blockhash ${blockhash}`;
  return rises(slot);
}

function versionFault(answer: Buffer): string | null {
  const text = decodeGetVersionResponse(answer);
  try {
    return typeof JSON.parse(text) === 'object' ? null : text;
  } catch {
    return text;
  }
}

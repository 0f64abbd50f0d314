import { RawJson, type WritableJson, writeJson } from '../../../src/base/json.ts';

/** What the calls of a case may name. Slots are numbers, or texts where a request is shown. */
export type Facts = Readonly<{
  /** Of an actor, a token account `owner/mint`, a lookup table, `identity`, `faucet` or `validator vote`. */
  address: (name: string) => string;
  signature: (step: string) => string;
  blockhash: (step: string) => string;
  slot: (step: string, plus?: number) => WritableJson;
  /** A transaction of the script. */
  wire: (step: string, encoding?: WireEncoding) => string;
  /** A transaction that no node has seen, of unsent.ts. */
  unsent: (name: string, encoding?: WireEncoding) => string;
  /** Its message in base64. */
  message: (name: string) => string;
}>;

export type WireEncoding = 'base64' | 'base58';

export type HttpRequest = Readonly<{
  verb: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}>;

/** A request of the recording. */
export type RecordedCase = Readonly<{
  /** Unique. */
  name: string;
  /** Its rules apply to the response. */
  method: string;
  request: (facts: Facts) => HttpRequest;
}>;

const JSON_HEADERS = { 'content-type': 'application/json' };

export const post = (body: string): HttpRequest => ({ verb: 'POST', path: '/', headers: JSON_HEADERS, body });

type Params = WritableJson | ((facts: Facts) => WritableJson);

/** A well-formed call. @param params - undefined omits the member. */
export function call(method: string, label: string, params: Params): RecordedCase {
  return {
    name: `${method}: ${label}`,
    method,
    request: (facts) => {
      const given = typeof params === 'function' ? params(facts) : params;
      return post(writeJson({ jsonrpc: '2.0', id: 1, method, params: given }));
    },
  };
}

/** A number that JavaScript cannot write. */
export const raw = (text: string): RawJson => new RawJson(text);

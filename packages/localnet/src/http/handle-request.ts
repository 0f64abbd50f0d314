import { setImmediate } from 'node:timers/promises';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../../../src/base/json.ts';
import type { Logger } from '../../../../src/base/log.ts';
import { Failure, type FailureCode, failures } from '../../../../src/protocol/errors.ts';
import {
  decodeEnvelope,
  type Envelope,
  type EnvelopeItem,
  envelopeLimits,
} from '../../../../src/protocol/request-envelope.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';

/** Member order of jsonrpc-core. */
const encodeResult = (id: string, result: WritableJson): string =>
  `{"jsonrpc":"2.0","result":${writeJson(result)},"id":${id}}`;

const encodeError = (id: string, error: RpcError): string => `{"jsonrpc":"2.0",${errorAndId(id, error)}`;

/** Error response to calls without `jsonrpc`. */
const encodeVersionlessError = (id: string, error: RpcError): string => `{${errorAndId(id, error)}`;

const errorAndId = (id: string, { code, message, data }: RpcError): string =>
  `"error":${writeJson({ code, message, data })},"id":${id}}`;

/** A Map, because an object would also find inherited names such as `constructor`. */
export type Methods = ReadonlyMap<
  string,
  (params: JsonValue | undefined) => WritableJson | Promise<WritableJson>
>;

export type RequestOptions = Readonly<{
  methods: Methods;
  /** Maximum calls per batch. */
  batchMaxCalls: number;
  /** Response size from which the remaining calls are rejected. */
  batchAnswerMaxChars: number;
  log: Logger;
}>;

const NO_ID = 'null';
const methodNotFound = new RpcError(-32601, 'Method not found');
const internalError = new RpcError(-32603, 'Internal error');
const batchResponseTooLarge = new RpcError(
  -32603,
  'Batch response too large. Split the batch into smaller ones.',
);

const errorOf = (code: FailureCode): RpcError => new RpcError(failures[code].rpc, failures[code].text);

/** The id as jsonrpc-core serializes it, without unnecessary escapes. */
const idText = (id: Buffer): string => writeJson(parseJson(id.toString('utf8')));

type Call = EnvelopeItem & { kind: 'call' };

async function run({ id, method: name, params }: Call, { methods, log }: RequestOptions): Promise<string> {
  const method = methods.get(name);
  if (method === undefined) return encodeError(idText(id), methodNotFound);
  try {
    const given = params === null ? undefined : parseJson(params.toString('utf8'));
    return encodeResult(idText(id), await method(given));
  } catch (cause) {
    if (cause instanceof RpcError) return encodeError(idText(id), cause);
    log.error({ err: cause, method: name }, 'RPC method failed');
    return encodeError(idText(id), internalError);
  }
}

/** @returns null for a notification, which is not executed. */
async function answerItem(item: EnvelopeItem, options: RequestOptions): Promise<string | null> {
  switch (item.kind) {
    case 'notification':
      return null;
    case 'fault': {
      const encode = item.code === 'UNSUPPORTED_VERSION' ? encodeVersionlessError : encodeError;
      return encode(idText(item.id), errorOf(item.code));
    }
    case 'call':
      return run(item, options);
  }
}

/** Rejects the remaining calls of a batch whose response has reached its size limit. */
const rejectCall = async (item: EnvelopeItem): Promise<string | null> =>
  item.kind === 'notification' ? null : encodeError(idText(item.id), batchResponseTooLarge);

async function answerBatch(items: readonly EnvelopeItem[], options: RequestOptions): Promise<string | null> {
  const running: Promise<string | null>[] = [];
  let chars = 0;
  const measured = async (item: EnvelopeItem): Promise<string | null> => {
    const answered = await answerItem(item, options);
    chars += answered?.length ?? 0;
    return answered;
  };
  for (const item of items) {
    running.push(chars > options.batchAnswerMaxChars ? rejectCall(item) : measured(item));
    // Most handlers are synchronous: without yielding, a batch would delay the slot ticker and other clients.
    await setImmediate();
  }
  const answers = (await Promise.all(running)).filter((answered) => answered !== null);
  return answers.length === 0 ? null : `[${answers.join(',')}]`;
}

/** Response to an invalid body. @throws unrelated errors. */
function answerInvalidBody(thrown: unknown, { batchMaxCalls }: RequestOptions): string {
  if (!(thrown instanceof Failure)) throw thrown;
  const error =
    thrown.code === 'BATCH_TOO_LARGE'
      ? new RpcError(-32600, `Batch too large; max ${batchMaxCalls}`)
      : errorOf(thrown.code);
  return encodeError(NO_ID, error);
}

async function answerBody(body: Buffer, options: RequestOptions): Promise<string | null> {
  let envelope: Envelope;
  try {
    // Ids are bounded by the body limit only, as in Agave.
    const limits = {
      ...envelopeLimits,
      batchMax: options.batchMaxCalls,
      idMaxBytes: body.length,
      objectParams: true,
    } as const;
    envelope = decodeEnvelope(body, limits);
  } catch (thrown) {
    return answerInvalidBody(thrown, options);
  }
  const [first] = envelope.items;
  if (envelope.batch || first === undefined) return answerBatch(envelope.items, options);
  return answerItem(first, options);
}

/**
 * Response text of a request body with a trailing newline; empty if no response is due. Source:
 * jsonrpc-core 18 `io.rs`; reference §2.3.
 */
export async function handleRequestBody(body: Buffer, options: RequestOptions): Promise<string> {
  const answered = await answerBody(body, options);
  return answered === null ? '' : `${answered}\n`;
}

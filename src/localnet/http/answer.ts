import { setImmediate } from 'node:timers/promises';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type DecodedBody, type DecodedCall, decodeBody } from './decode.ts';
import { type Addressee, encodeError, encodeResult } from './encode.ts';

/** How a method is answered, by its name. A Map, so that a method called `constructor` finds nothing. */
export type Methods = ReadonlyMap<
  string,
  (params: JsonValue | undefined) => WritableJson | Promise<WritableJson>
>;

export type AnswerOptions = Readonly<{
  methods: Methods;
  /** Most members of a batch that are answered. */
  batchMaxCalls: number;
  /** Characters of a batch's answer after which its remaining calls are refused. */
  batchAnswerMaxChars: number;
  log: Logger;
}>;

const NOBODY: Addressee = { id: null, versioned: true };
const parseError = new RpcError(-32700, 'Parse error');
const invalidRequest = new RpcError(-32600, 'Invalid request');
const unsupportedVersion = new RpcError(-32600, 'Unsupported JSON-RPC protocol version');
const methodNotFound = new RpcError(-32601, 'Method not found');
const internalError = new RpcError(-32603, 'Internal error');
const batchAnswerFull = new RpcError(-32603, 'Batch answer too large: ask for less at once');

async function run(call: DecodedCall & { kind: 'call' }, { methods, log }: AnswerOptions): Promise<string> {
  const method = methods.get(call.method);
  if (method === undefined) return encodeError(call, methodNotFound);
  try {
    return encodeResult(call, await method(call.params));
  } catch (cause) {
    if (cause instanceof RpcError) return encodeError(call, cause);
    log.error({ err: cause, method: call.method }, 'a method failed');
    return encodeError(call, internalError);
  }
}

/** @returns null for a notification, which is not executed. */
async function answerCall(call: DecodedCall, options: AnswerOptions): Promise<string | null> {
  switch (call.kind) {
    case 'notification':
      return null;
    case 'invalid':
      return encodeError({ id: call.id, versioned: true }, invalidRequest);
    case 'call':
      return call.versioned ? run(call, options) : encodeError(call, unsupportedVersion);
  }
}

/** What is left of a batch whose answer is full. */
const refuse = async (call: DecodedCall): Promise<string | null> =>
  call.kind === 'notification' ? null : encodeError({ id: call.id, versioned: true }, batchAnswerFull);

async function answerBatch(calls: readonly DecodedCall[], options: AnswerOptions): Promise<string | null> {
  if (calls.length > options.batchMaxCalls) {
    return encodeError(NOBODY, new RpcError(-32600, `Batch too large; max ${options.batchMaxCalls}`));
  }
  const running: Promise<string | null>[] = [];
  let chars = 0;
  const measured = async (call: DecodedCall): Promise<string | null> => {
    const answered = await answerCall(call, options);
    chars += answered?.length ?? 0;
    return answered;
  };
  for (const call of calls) {
    running.push(chars > options.batchAnswerMaxChars ? refuse(call) : measured(call));
    // Most handlers wait for nothing: without a pause a batch would stop the ledger's clock and other callers.
    await setImmediate();
  }
  const answers = (await Promise.all(running)).filter((answered) => answered !== null);
  return answers.length === 0 ? null : `[${answers.join(',')}]`;
}

async function answerBody(body: DecodedBody, options: AnswerOptions): Promise<string | null> {
  switch (body.kind) {
    case 'unparsable':
      return encodeError(NOBODY, parseError);
    case 'single':
      return answerCall(body.call, options);
    case 'batch':
      return answerBatch(body.calls, options);
  }
}

/**
 * The text of the answer to a request body; empty when nothing in it asks for an answer, else ended by a line
 * break. Source: jsonrpc-core 18 `io.rs`; reference §2.3.
 */
export async function answer(text: string, options: AnswerOptions): Promise<string> {
  const answered = await answerBody(decodeBody(text), options);
  return answered === null ? '' : `${answered}\n`;
}

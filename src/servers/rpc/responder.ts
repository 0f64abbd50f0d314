import type { ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import type { Outcome, Responder } from '../../protocol/request-handler.ts';
import { endSingle, resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { pipeStream } from '../http/pipe-stream.ts';
import { pushOutcome, type RpcCalls, statusOfSingle } from './calls.ts';
import { type HeaderList, JOIN_MAX_BYTES, responseHeaders, send, sendCompressed } from './encode.ts';

export function singleCallResponder(calls: RpcCalls, response: ServerResponse, id: Buffer): Responder {
  const sendOutcome = (outcome: Outcome): void => {
    const { failure } = outcome;
    const pieces: Buffer[] = [];
    pushOutcome(pieces, outcome, id);
    const headers = responseHeaders(outcome, failure?.retryAfter);
    send(response, statusOfSingle(failure), headers, endSingle(pieces), calls);
  };
  return {
    respond(outcome) {
      if (response.destroyed) return;
      const result = outcome.response;
      const isLarge = result !== null && result.body.length > JOIN_MAX_BYTES;
      const reservation = isLarge ? calls.reserve(result) : null;
      if (reservation instanceof Failure) {
        sendOutcome({ ...outcome, response: null, failure: reservation });
        return;
      }
      reservation?.releaseAfter(response);
      sendOutcome(outcome);
    },
    stream: {
      respondStream(source, limits) {
        if (response.destroyed) source.cancel();
        else sendStream(source, response, id, responseHeaders(limits, undefined), calls);
      },
    },
  };
}

function sendStream(
  source: StreamedResponse,
  response: ServerResponse,
  id: Buffer,
  headers: HeaderList,
  calls: RpcCalls,
): void {
  const [prefix, suffix] = [resultPrefix(), resultSuffix(id)];
  const { socket, headers: requested } = response.req;
  const accepted = requested['accept-encoding']?.toString();
  const client = calls.options.proxies.clientOf(socket, requested);
  const compressed = calls.compression.compressStream(accepted, client, source, prefix, suffix);
  if (compressed !== null) {
    sendCompressed(response, headers, compressed);
    return;
  }
  const { bytes } = source;
  if (bytes !== null) headers.push('content-length', String(prefix.length + bytes + suffix.length));
  response.writeHead(200, headers);
  response.write(prefix);
  pipeStream(source, response, suffix);
}

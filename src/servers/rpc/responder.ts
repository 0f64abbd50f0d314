import type { ServerResponse } from 'node:http';
import { bufferPool } from '../../http/buffer-pool.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Outcome, Responder } from '../../protocol/request-handler.ts';
import { endSingle, resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { pushOutcome, type RpcCalls, statusOfSingle } from './calls.ts';
import { type HeaderList, JOIN_MAX_BYTES, responseHeaders, send } from './encode.ts';

export function singleCallResponder(calls: RpcCalls, response: ServerResponse, id: Buffer): Responder {
  const sendOutcome = (outcome: Outcome): void => {
    const { failure } = outcome;
    const pieces: Buffer[] = [];
    pushOutcome(pieces, outcome, id);
    const headers = responseHeaders(outcome, failure?.retryAfter);
    send(response, statusOfSingle(failure), headers, endSingle(pieces));
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
        else sendStream(source, response, id, responseHeaders(limits, undefined));
      },
    },
  };
}

/** Writes a streamed result. An error closes the connection, so that the client sees that the result is incomplete. */
function sendStream(
  source: StreamedResponse,
  response: ServerResponse,
  id: Buffer,
  headers: HeaderList,
): void {
  const prefix = resultPrefix();
  const suffix = resultSuffix(id);
  const { bytes } = source;
  const write = (piece: Buffer): boolean =>
    response.write(piece, (error) => {
      // After a failed write, the kernel may still read the buffer.
      if (error == null) bufferPool.release(piece);
    });
  if (bytes !== null) headers.push('content-length', String(prefix.length + bytes + suffix.length));
  response.writeHead(200, headers);
  response.write(prefix);
  response.on('drain', () => source.resume());
  response.on('close', () => source.cancel());
  source.pipeTo({
    onData(piece) {
      if (!write(piece)) source.pause();
    },
    onEnd(last) {
      write(last);
      response.end(suffix);
    },
    onError: () => void response.destroy(),
  });
}

import { rpcBody } from '../../gateway-call.ts';
import type { LiveStream } from './live-stream.ts';

type Received = Readonly<{ id?: number; result?: unknown; error?: { message?: string } }>;

/** Subscribes over the WebSocket interface. The credential is a subprotocol: pages cannot set headers. */
export function openSubscription(
  stream: LiveStream,
  credential: string,
  method: string,
  params: string,
): void {
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/ws`, ['api-key', credential]);
  let subscription: unknown = null;
  stream.closeTransport = () => {
    if (socket.readyState === WebSocket.OPEN && subscription !== null)
      socket.send(rpcBody(method.replace(/Subscribe$/, 'Unsubscribe'), JSON.stringify([subscription])));
    socket.close();
  };
  socket.onopen = () => socket.send(rpcBody(method, params));
  socket.onmessage = ({ data }: MessageEvent<string>) => {
    const { id, result, error } = JSON.parse(data) as Received;
    if (id === undefined) stream.push(data);
    else if (error !== undefined) stream.close(error.message ?? 'The subscription was rejected.', true);
    else if (subscription === null) {
      subscription = result;
      stream.open(`Subscription ${String(result)}`);
    }
  };
  socket.onclose = ({ code, reason }) =>
    stream.close(
      reason === '' ? `The connection closed with code ${code}. The key may not allow this use.` : reason,
      true,
    );
}

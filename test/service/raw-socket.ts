import { connect, type Socket } from 'node:net';

export type RawSocket = Readonly<{
  socket: Socket;
  write: (bytes: string | Uint8Array) => void;
  /** Waits for received bytes that match. @throws Error on close or timeout. */
  until: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpExecArray>;
  closed: Promise<string>;
}>;

/** @throws Error ECONNREFUSED */
export function rawSocket(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: false });
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  const until = (pattern: RegExp, timeoutMs = 15_000): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const finish = (outcome: () => void): void => {
        clearTimeout(timer);
        socket.off('data', check);
        socket.off('close', onClose);
        outcome();
      };
      const check = (): void => {
        const found = pattern.exec(text);
        if (found !== null) finish(() => resolve(found));
      };
      const onClose = (): void =>
        finish(() => reject(new Error(`closed before ${pattern} came, after:\n${text}`)));
      const timer = setTimeout(
        () => finish(() => reject(new Error(`${pattern} did not come, only:\n${text}`))),
        timeoutMs,
      );
      socket.on('data', check);
      socket.once('close', onClose);
      check();
    });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // `close` follows a reset.
      socket.on('error', () => {});
      resolve({ socket, write: (bytes) => void socket.write(bytes), until, closed });
    });
  });
}

import { createServer, type OnReadOpts, Socket } from 'node:net';

/** Native handle of a socket. */
type Handle = { _handle: object | null };

/** Read buffer of all sockets. */
export const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Accepts connections that read into the shared buffer, and prints the port. */
export function serveSharedReads(open: (accept: (onread: OnReadOpts) => Socket) => void): void {
  const server = createServer({ pauseOnConnect: true }, (accepted) => {
    open((onread) => {
      const inner = accepted as unknown as Handle;
      const options: object = { handle: inner._handle, onread };
      inner._handle = null;
      return new Socket(options);
    });
  });
  server.listen(0, '127.0.0.1', () => printPort(server));
}

/** The parent process reads the port from standard output. */
export function printPort(server: ReturnType<typeof createServer>): void {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
}

import { WebSocket } from 'ws';
import type { Failure } from '../../protocol/errors.ts';
import { closeReason, faultOf } from './errors.ts';

/** Whoever keeps a socket. */
export interface SocketListener {
  /** How long a message may be. */
  readonly messageMaxBytes: number;
  /** The close frame goes out next: whatever is to come before it must go now. */
  onClosing(): void;
}

/**
 * A socket that tells when its closing begins, whoever begins it: nothing may follow a close frame (RFC 6455
 * §5.5.1), and `ws` writes one by itself when the client closes or sends what is no frame.
 */
export class ClientSocket extends WebSocket {
  listener: SocketListener | null = null;

  /** `ws` closes with a code and no reason when it found a fault in what came in. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === WebSocket.OPEN) this.listener?.onClosing();
    if (code !== undefined && reason === undefined)
      this.end(faultOf(code, this.listener?.messageMaxBytes ?? 0));
    else super.close(code, reason);
  }

  /** Closes with the code and the text of a failure. */
  end(failure: Failure): void {
    super.close(failure.row.close, closeReason(failure));
  }
}

import { WebSocket } from 'ws';
import type { Failure } from '../../protocol/errors.ts';
import { closeReason, faultOf } from './errors.ts';

export interface SocketListener {
  readonly messageMaxBytes: number;
  /** The close frame is sent next; data must be flushed now. */
  onClosing(): void;
}

/**
 * Socket that reports the start of its closing handshake, whoever initiates it: nothing may follow a close frame
 * (RFC 6455 §5.5.1), and `ws` sends one by itself when the client closes or sends an invalid frame.
 */
export class ClientSocket extends WebSocket {
  listener: SocketListener | null = null;

  /** `ws` passes a code without a reason for invalid frames. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === WebSocket.OPEN) this.listener?.onClosing();
    if (code !== undefined && reason === undefined)
      this.end(faultOf(code, this.listener?.messageMaxBytes ?? 0));
    else super.close(code, reason);
  }

  /** Closes with the close code and text of a failure. */
  end(failure: Failure): void {
    super.close(failure.row.close, closeReason(failure));
  }
}

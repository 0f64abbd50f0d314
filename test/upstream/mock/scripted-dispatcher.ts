import type {
  Call,
  CallTrace,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
  ServedFrom,
} from '../../../src/protocol/call.ts';
import type { Commitment } from '../../../src/protocol/commitment.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { methodRow } from '../../../src/protocol/methods.ts';
import { type Slot, slot } from '../../../src/solana/units.ts';
import type { ObservedSlot, SlotTracker } from '../../../src/upstream/slots/slot-tracker.ts';

export const callOf = (method: string, params?: unknown, more: Partial<Call> = {}): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: params === undefined ? null : Buffer.from(JSON.stringify(params)),
  ...more,
});

export const resultOf = (json: string): RpcResponse => ({ body: Buffer.from(json), errorCode: 0 });

export const at = (contextSlot: number, value = '1'): RpcResponse =>
  resultOf(`{"context":{"apiVersion":"3.0.0","slot":${contextSlot}},"value":${value}}`);

export type ReceivedCall = Readonly<{
  call: Call;
  handler: ResponseHandler;
  respond(response: RpcResponse): void;
  fail(failure: Failure): void;
  cancelCount(): number;
}>;

export class ScriptedDispatcher implements RpcDispatcher {
  readonly calls: ReceivedCall[] = [];
  /** Returns the immediate response; null: the test responds later. */
  script: (call: Call) => RpcResponse | null = () => null;

  get params(): (string | null)[] {
    return this.calls.map(({ call }) => call.params?.toString() ?? null);
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    let cancelCount = 0;
    let isOver = false;
    const end = (notify: () => void): void => {
      if (isOver) return;
      isOver = true;
      notify();
    };
    const respond = (response: RpcResponse): void => end(() => handler.onResponse(response));
    const fail = (failure: Failure): void => end(() => handler.onError(failure));
    this.calls.push({ call, handler, respond, fail, cancelCount: () => cancelCount });
    const scripted = this.script(call);
    if (scripted !== null) respond(scripted);
    const cancel = (): void => {
      cancelCount++;
      fail(new Failure('CLIENT_GONE'));
    };
    return { cancel };
  }
}

export class RecordingHandler implements ResponseHandler, CallTrace {
  readonly responses: RpcResponse[] = [];
  readonly failures: Failure[] = [];
  readonly servedFrom: ServedFrom[] = [];
  onEnd: () => void = () => {};

  onResponse(response: RpcResponse): void {
    this.responses.push(response);
    this.onEnd();
  }

  onError(failure: Failure): void {
    this.failures.push(failure);
    this.onEnd();
  }

  onAttempt(): void {}

  onServedFrom(from: ServedFrom): void {
    this.servedFrom.push(from);
  }

  /** Response text or failure code; null while pending. */
  get ending(): string | null {
    const ends = [
      ...this.responses.map(({ body }) => body.toString()),
      ...this.failures.map(({ code }) => code),
    ];
    if (ends.length > 1) throw new Error(`ended ${ends.length} times: ${ends.join(', ')}`);
    return ends[0] ?? null;
  }
}

export class ScriptedSlots implements SlotTracker {
  readonly slots = new Map<Commitment, ObservedSlot>();

  set(commitment: Commitment, value: number | Slot, atMs = 0): void {
    this.slots.set(commitment, { slot: slot(BigInt(value)), atMs });
  }

  slotAt(_network: string, commitment: Commitment): ObservedSlot | null {
    return this.slots.get(commitment) ?? null;
  }
}

import { Failure } from '../../protocol/errors.ts';
import { type SubscriptionMethod, subscriptionByMethod } from '../../protocol/pubsub/subscription-method.ts';
import {
  decodeEnvelope,
  type Envelope,
  type EnvelopeItem,
  type EnvelopeLimits,
} from '../../protocol/request-envelope.ts';

export type ClientCall = EnvelopeItem & { kind: 'call' };

export type Received = Readonly<{ envelope: Envelope; failure: null } | { envelope: null; failure: Failure }>;

/** Decodes a JSON-RPC message. Binary messages with UTF-8 are accepted, as in Agave. */
export function decodeMessage(message: Buffer, limits: EnvelopeLimits): Received {
  try {
    return { envelope: decodeEnvelope(message, limits), failure: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { envelope: null, failure: thrown };
  }
}

export const subscriptionMethodOf = ({ method }: ClientCall): SubscriptionMethod | undefined =>
  subscriptionByMethod(method);

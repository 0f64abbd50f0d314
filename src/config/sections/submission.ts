import { submitLimits as send } from '../../upstream/submit/submission.ts';
import { HOUR_MS, MIB, section, whole } from '../field-types.ts';
import { namedServers } from './named-servers.ts';

/** The sections of how transactions are sent. */

/** `[[sender]]`: endpoints that take transactions and answer nothing else. */
export const senders = namedServers('sender', 'endpoint');

/** `[sending]`: rebroadcasts, and how what was sent is followed. */
export const sendingSection = section({
  under_way_max: whole(1, 10_000_000).default(send.underWayMax),
  callers_max: whole(1, 10_000_000).default(send.callersMax),
  attempt_timeout_ms: whole(50, HOUR_MS).default(send.attemptTimeoutMs),
  rebroadcast_ms: whole(50, HOUR_MS).default(send.rebroadcastMs),
  rebroadcasts_at_a_time: whole(1, 100_000).default(send.rebroadcastsAtATime),
  pending_max: whole(0, 10_000_000).default(send.pendingMax),
  pending_max_bytes: whole(0, 64 * 1_024 * MIB).default(send.pendingMaxBytes),
  pending_max_ms: whole(100, HOUR_MS).default(send.pendingMaxMs),
  status_poll_ms: whole(10, HOUR_MS).default(send.statusPollMs),
  expiry_poll_ms: whole(10, HOUR_MS).default(send.expiryPollMs),
  calls_at_a_time: whole(1, 1_000).default(send.callsAtATime),
  accepted_ms: whole(0, 60_000).default(send.acceptedMs),
  accepted_max: whole(1, 10_000_000).default(send.acceptedMax),
});

import type { Asked, Asker, Call } from '../protocol/call.ts';
import type { NodeGroup } from './node-group.ts';
import { AskedNodes } from './walk/asked-nodes.ts';
import { Walk } from './walk/walk.ts';

/**
 * Puts a call to one node after another until one answers it, as the rules for its nature allow; a read may be put to a
 * second one while the first is late. It fails when nobody answered: UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, OVERLOADED,
 * ANSWER_TOO_LARGE; or as the caller's, when every node that was asked refused the request as such: BODY_TOO_LARGE,
 * INVALID_REQUEST; or CLIENT_GONE, when whoever asked left.
 */
export function askNodes(group: NodeGroup, call: Call, asker: Asker): Asked {
  group.begins(call);
  const walk = new Walk(call, group);
  const asked = new AskedNodes(walk, asker);
  asked.next(walk.beganAt);
  return asked;
}

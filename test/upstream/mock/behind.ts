import { type Behaviour, sendError } from './server.ts';

/** Reports itself behind to every call. */
export const behind: Behaviour = ({ id }, reply) =>
  sendError(reply, id, -32005, 'Node is behind by 150 slots', { numSlotsBehind: 150 });

import { z } from 'zod';
import { networks } from '../../protocol/call.ts';
import { headers, httpUrl, nodeName, oneOf, section } from '../field-types.ts';

const SERVERS_MAX = 64;

/**
 * Tables of servers that are asked over HTTP besides the nodes, each under its own `[[name]]`.
 * @param what - what one of them is called in the words of a fault.
 */
export const namedServers = (name: string, what: 'server' | 'endpoint') =>
  z
    .array(
      section({
        network: oneOf(networks).optional(),
        name: nodeName.optional(),
        url: httpUrl,
        headers: headers.default({}),
      }),
      { error: `is not a list of tables: write each ${what} under its own [[${name}]]` },
    )
    .max(SERVERS_MAX, { error: `has more than ${SERVERS_MAX} ${what}s` })
    .default([]);

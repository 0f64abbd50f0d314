import { createLogger } from '../base/log.ts';
import { type ApiClient, remoteApi } from '../control/api/client.ts';
import type { Answered, Asked } from '../control/api/contract/contract.ts';
import { buildHandlers } from '../control/api/handlers/handlers.ts';
import { ControlApi } from '../control/api/server/control-api.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import type { Network } from '../protocol/call.ts';
import { offlineNodeFacts } from './added-nodes.ts';
import type { Configuration } from './configuration.ts';
import { type Environment, resolveReference } from './configuration-secrets.ts';
import { apiServicesOf } from './control-services.ts';
import { checkStoreExists } from './keys-commands.ts';
import { openStore, pepperSources } from './store.ts';

/** Nodes and gateways as lists show them. */
export type ListedUpstreams = Answered<'GET /upstreams'>;

/** A node that was taken, with what it said of itself. */
export type TakenNode = Answered<'POST /upstreams'>;

/** A node as a person writes it at the command line. */
export type WrittenNode = Readonly<{
  network: string;
  name: string;
  url: string;
  ws?: string | undefined;
  grpc?: string | undefined;
  headers: Readonly<Record<string, string>>;
  /** What else the configuration says of nodes, by the names of the file. */
  options: NodeOptions;
}>;

/** Options of a node by the names of the file; null: not limited. */
export type NodeOptions = Readonly<Record<string, number | null>>;

/** What a person changes of an added node; what is left out stays. */
export type RewrittenNode = Readonly<{
  url: string | undefined;
  ws: string | undefined;
  /** null: it has none any more. */
  grpc: string | null | undefined;
  headers: WrittenNode['headers'] | undefined;
  options: NodeOptions | undefined;
}>;

/** The operations on nodes, as a person at the command line has them. */
export type UpstreamOffice = Readonly<{
  list(): Promise<ListedUpstreams>;
  add(node: WrittenNode, force: boolean): Promise<TakenNode>;
  change(name: string, node: RewrittenNode, force: boolean): Promise<TakenNode>;
  cordon(name: string, network: string | undefined, reason: string): Promise<void>;
  uncordon(name: string, network: string | undefined): Promise<void>;
  drain(name: string, network: string | undefined, reason: string, force: boolean): Promise<void>;
  remove(name: string, force: boolean): Promise<void>;
}>;

/** Names are one node's; where one stands for several networks all the same, the network must be named. */
async function networkOf(api: ApiClient, name: string, given: string | undefined): Promise<Network> {
  if (given !== undefined) return given as Network;
  const { nodes, added } = await api.call('GET /upstreams', {});
  const found = [...nodes, ...added].find((node) => node.name === name);
  // The answer to what is asked next says that there is none.
  return found?.network ?? 'mainnet-beta';
}

/** The API takes options whole. */
async function optionsNow(api: ApiClient, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { added } = await api.call('GET /upstreams', {});
  return added.find((node) => node.name === name)?.options ?? {};
}

function officeOf(api: ApiClient, environment: Environment): UpstreamOffice {
  const value = (text: string): string => resolveReference(text, environment, process.cwd());
  const headersOf = (headers: WrittenNode['headers']): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, value(text)]));
  return {
    list: async () => api.call('GET /upstreams', {}),
    add: async ({ network, url, ws, grpc, headers, name, options }, force) => {
      const body: Asked<'POST /upstreams'>['body'] = {
        network: network as Network,
        name,
        url: value(url),
        ...(ws !== undefined && { ws: value(ws) }),
        ...(grpc !== undefined && { grpc: value(grpc) }),
        headers: headersOf(headers),
        options,
        force,
      };
      return api.call('POST /upstreams', { body });
    },
    change: async (node, { url, ws, grpc, headers, options }, force) => {
      const body: Asked<'PATCH /upstreams/{node}'>['body'] = {
        ...(url !== undefined && { url: value(url) }),
        ...(ws !== undefined && { ws: value(ws) }),
        ...(grpc !== undefined && { grpc: grpc === null ? null : value(grpc) }),
        ...(headers !== undefined && { headers: headersOf(headers) }),
        ...(options !== undefined && { options: { ...(await optionsNow(api, node)), ...options } }),
        force,
      };
      return api.call('PATCH /upstreams/{node}', { path: { node }, body });
    },
    cordon: async (node, given, reason) => {
      const network = await networkOf(api, node, given);
      await api.call('POST /upstreams/{node}/cordon', { path: { node }, body: { network, reason } });
    },
    uncordon: async (node, given) => {
      const network = await networkOf(api, node, given);
      await api.call('POST /upstreams/{node}/uncordon', { path: { node }, body: { network } });
    },
    drain: async (node, given, reason, force) => {
      const network = await networkOf(api, node, given);
      await api.call('POST /upstreams/{node}/drain', { path: { node }, body: { network, reason, force } });
    },
    remove: async (node, force) => {
      const query = force ? { force: 'true' as const } : {};
      await api.call('DELETE /upstreams/{node}', { path: { node }, query });
    },
  };
}

const noDoors = () => ({ url: '', grpcUrl: null, hasShredStage: false, isDevelopment: false });

/**
 * Opens the store, does `work` through the control API of this process and closes it again. Running gateways follow within
 * a second or two.
 * @param who - who acts, for the audit log.
 * @throws what control throws: ApiError, KeyRefusedError, PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function withUpstreamOffice<Result>(
  configuration: Configuration,
  environment: Environment,
  who: string,
  work: (office: UpstreamOffice) => Promise<Result>,
): Promise<Result> {
  checkStoreExists(configuration);
  const store = await openStore(configuration);
  try {
    const peppers = await openPeppers(store, pepperSources(configuration, environment));
    const log = createLogger('silent', () => undefined);
    const nodes = offlineNodeFacts(configuration, peppers);
    const services = apiServicesOf({
      ...{ configuration, store, peppers, log },
      endpoints: [],
      source: null,
      mailer: null,
      reachedAt: noDoors,
      more: { nodes },
    });
    const api = new ControlApi({ services, handlers: buildHandlers(services), log });
    return await work(officeOf({ call: (name, asked) => api.call(name, asked, who) }, environment));
  } finally {
    await store.close();
  }
}

/** The same on another machine, with an operator's token. */
export const remoteUpstreamOffice = (url: string, token: string, environment: Environment): UpstreamOffice =>
  officeOf(remoteApi({ url, token }), environment);

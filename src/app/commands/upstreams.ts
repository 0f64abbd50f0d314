import { createLogger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { type Environment, resolveReference } from '../../config/sources.ts';
import { type ApiClient, remoteApi } from '../../control/api/client.ts';
import type { RouteInput, RouteOutput } from '../../control/api/contract/contract.ts';
import { buildHandlers } from '../../control/api/handlers/handlers.ts';
import { ControlApi } from '../../control/api/server/control-api.ts';
import { openPeppers } from '../../control/pepper-proof.ts';
import type { Network } from '../../protocol/call.ts';
import { apiServicesOf } from '../servers/control-services.ts';
import { openStore, pepperSources } from '../store.ts';
import { offlineNodeFacts } from '../upstreams/added-nodes.ts';
import { checkStoreExists } from './keys.ts';

/** Nodes and gateways. */
export type UpstreamList = RouteOutput<'GET /upstreams'>;

/** An accepted node and its report. */
export type AcceptedNode = RouteOutput<'POST /upstreams'>;

/** A node of the command line. */
export type NodeInput = Readonly<{
  network: string;
  name: string;
  url: string;
  ws?: string | undefined;
  grpc?: string | undefined;
  headers: Readonly<Record<string, string>>;
  /** Other node options, by their names in the file. */
  options: NodeOptions;
}>;

/** Node options by their names in the file; null: no limit. */
export type NodeOptions = Readonly<Record<string, number | null>>;

/** Changed options of an added node; absent ones stay. */
export type NodeChange = Readonly<{
  url: string | undefined;
  ws: string | undefined;
  /** null removes it. */
  grpc: string | null | undefined;
  headers: NodeInput['headers'] | undefined;
  options: NodeOptions | undefined;
}>;

/** Node operations of the command line. */
export type UpstreamCommands = Readonly<{
  list(): Promise<UpstreamList>;
  add(node: NodeInput, force: boolean): Promise<AcceptedNode>;
  change(name: string, node: NodeChange, force: boolean): Promise<AcceptedNode>;
  cordon(name: string, network: string | undefined, reason: string): Promise<void>;
  uncordon(name: string, network: string | undefined): Promise<void>;
  drain(name: string, network: string | undefined, reason: string, force: boolean): Promise<void>;
  remove(name: string, force: boolean): Promise<void>;
}>;

/** A name that occurs on several networks requires the network. */
async function networkOf(api: ApiClient, name: string, given: string | undefined): Promise<Network> {
  if (given !== undefined) return given as Network;
  const { nodes, added } = await api.call('GET /upstreams', {});
  const found = [...nodes, ...added].find((node) => node.name === name);
  // The next request reports a missing node.
  return found?.network ?? 'mainnet-beta';
}

/** The API replaces all options at once. */
async function optionsNow(api: ApiClient, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { added } = await api.call('GET /upstreams', {});
  return added.find((node) => node.name === name)?.options ?? {};
}

function commandsOf(api: ApiClient, environment: Environment): UpstreamCommands {
  const value = (text: string): string => resolveReference(text, environment, process.cwd());
  const headersOf = (headers: NodeInput['headers']): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, value(text)]));
  return {
    list: async () => api.call('GET /upstreams', {}),
    add: async ({ network, url, ws, grpc, headers, name, options }, force) => {
      const body: RouteInput<'POST /upstreams'>['body'] = {
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
      const body: RouteInput<'PATCH /upstreams/{node}'>['body'] = {
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

const noAddress = () => ({ url: '', grpcUrl: null, hasShredStage: false, isDevelopment: false });

/**
 * Opens the store, does `work` through the control API of this process and closes it again. Running gateways follow within
 * a second or two.
 * @param who - who acts, for the audit log.
 * @throws what control throws: ApiError, KeyRefusedError, PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function withUpstreamCommands<Result>(
  configuration: Configuration,
  environment: Environment,
  actor: string,
  work: (commands: UpstreamCommands) => Promise<Result>,
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
      serviceAddress: noAddress,
      more: { nodes },
    });
    const api = new ControlApi({ services, handlers: buildHandlers(services), log });
    return await work(commandsOf({ call: (name, request) => api.call(name, request, actor) }, environment));
  } finally {
    await store.close();
  }
}

/** The same through the API of a remote service, with an operator's token. */
export const remoteUpstreamCommands = (
  url: string,
  token: string,
  environment: Environment,
): UpstreamCommands => commandsOf(remoteApi({ url, token }), environment);

import { openApi } from '../endpoints/openapi.ts';
import { endpoints } from '../endpoints/registry.ts';
import { routeOf } from '../endpoints/routes.ts';
import type { Services } from '../endpoints/services.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import { Confirmations } from '../gateway/rest/confirmations.ts';
import { RestGate } from '../gateway/rest/rest-gate.ts';
import type { TrustedProxies } from '../servers/client-address.ts';
import { type HttpRoutes, joinRoutes } from '../servers/http-route.ts';
import { ipfsRoutes } from '../servers/ipfs/server.ts';
import type { ApiDocument } from '../servers/reference/page.ts';
import { referenceRoutes } from '../servers/reference/routes.ts';
import type { UploadLimits } from '../servers/rest/multipart.ts';
import { restRoutes } from '../servers/rest/server.ts';
import type { Configuration } from './configuration.ts';
import type { Limits } from './limits.ts';
import { PROGRAM_VERSION } from './program-version.ts';
import type { RestServices } from './rest-services.ts';
import type { Upstreams } from './upstreams.ts';

/** The door of the REST interface. */
export type RestDoor = Readonly<{
  /** Of the interface, of the files that are stored, and of the page that shows the interface. */
  routes: HttpRoutes;
  /** Answers those who wait for confirmations: they could outlast the end of the service. */
  endWaits(): void;
}>;

function openConfirmations(
  { networks, confirmations: limits }: Configuration,
  { source }: PipelineParts,
  { feed }: Upstreams,
): Confirmations {
  return new Confirmations({ feed, feedNetwork: networks.default, source, limits });
}

/** Builds the door of the REST interface on what was opened for it. @throws Error when two parts claim one path. */
export function restDoor(
  configuration: Configuration,
  parts: PipelineParts,
  upstreams: Upstreams,
  opened: RestServices,
  proxies: TrustedProxies,
  { groups }: Limits,
): RestDoor {
  const { rest, storage, uploads, ipfs } = configuration;
  const { historyDays, domainSuffix, bodyMaxBytes, bodiesMaxBytes } = rest;
  const confirmations = openConfirmations(configuration, parts, upstreams);
  const services: Services = { ...opened, confirmations, settings: { historyDays, domainSuffix } };
  const routes = endpoints.map((endpoint) => routeOf(endpoint, services));
  const upload: UploadLimits = { ...uploads, fileMaxBytes: storage.fileMaxBytes };
  const joined = joinRoutes(
    restRoutes(new RestGate(parts, rest, groups), routes, {
      bodyMaxBytes,
      bodiesMaxBytes,
      upload,
      proxies,
    }),
    opened.kept === null ? new Map() : ipfsRoutes(opened.kept, ipfs, opened.blocks),
    // What the one floor writes the other reads, and neither knows the other.
    referenceRoutes(openApi(endpoints, PROGRAM_VERSION) as unknown as ApiDocument),
  );
  return { routes: joined, endWaits: () => confirmations.close() };
}

/** Services with a health status; '' is the whole server. Source: grpc.health.v1, health.proto. */
export const servedServices = ['', 'geyser.Geyser', 'shredstream.ShredstreamProxy'] as const;
export type ServedService = (typeof servedServices)[number];

/** Whether a service can take new calls. Draining is handled separately. */
export type HealthFacts = (service: ServedService) => boolean;

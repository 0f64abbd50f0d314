# Installs the Helm chart in an existing cluster, with an existing PostgreSQL, Redis and nodes.
terraform {
  required_version = ">= 1.5"
  required_providers {
    helm       = { source = "hashicorp/helm", version = "~> 3.0" }
    kubernetes = { source = "hashicorp/kubernetes", version = ">= 2.30, < 4" }
  }
}

variable "kubeconfig" {
  type    = string
  default = "~/.kube/config"
}

variable "namespace" {
  type    = string
  default = "solway"
}

variable "image" {
  type        = string
  description = "The image of packaging/Dockerfile, in your registry"
}

variable "environment" {
  type        = map(string)
  sensitive   = true
  description = "DATABASE_URL, REDIS_URL, NODE_URL, SOLWAY_PEPPER and METRICS_TOKEN. They are stored in the Terraform state."

  validation {
    condition     = alltrue([for name in ["DATABASE_URL", "REDIS_URL", "SOLWAY_PEPPER", "METRICS_TOKEN"] : contains(keys(var.environment), name)])
    error_message = "DATABASE_URL, REDIS_URL, SOLWAY_PEPPER and METRICS_TOKEN are required."
  }
}

variable "values" {
  type        = list(string)
  default     = []
  description = "Values of the chart as YAML, such as file(\"values.yaml\")"
}

provider "kubernetes" {
  config_path = var.kubeconfig
}

provider "helm" {
  kubernetes = {
    config_path = var.kubeconfig
  }
}

resource "kubernetes_namespace_v1" "solway" {
  metadata {
    name = var.namespace
  }
}

resource "kubernetes_secret_v1" "solway" {
  metadata {
    name      = "solway"
    namespace = kubernetes_namespace_v1.solway.metadata[0].name
  }
  data = var.environment
}

resource "helm_release" "solway" {
  name      = "solway"
  namespace = kubernetes_namespace_v1.solway.metadata[0].name
  chart     = "${path.module}/../helm"
  values    = concat([yamlencode({ image = var.image, secret = kubernetes_secret_v1.solway.metadata[0].name })], var.values)
  # The volumes are provisioned and the schema is created at the first start.
  timeout = 600
}

#!/usr/bin/env bash
# Checks the files of this folder with the tools of those who read them:
#
#   docs/monitoring/check.sh              rules, their tests, and the expressions of the dashboard, with Prometheus' promtool
#   docs/monitoring/check.sh --dashboard  the dashboard against the schema that Grafana publishes, from the npm registry
#
# Installs what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${1:-}" = --dashboard ]; then
  command -v npm >/dev/null || ../../.ci/install nodejs npm
  cd "$work"
  npm install --no-audit --no-fund --ignore-scripts --loglevel=error \
    @grafana/schema@13.2.3 ts-json-schema-generator@2.4.0 ajv@8.20.0
  NODE_PATH=$work/node_modules node "$here/check_dashboard.js" "$here/dashboard.json"
  exit
fi

command -v promtool >/dev/null || ../../.ci/install prometheus
promtool check rules alerts.yml
promtool test rules alerts_test.yml

# As rules, with a value for each variable of Grafana. A text of JSON is one of YAML as well.
{
  printf 'groups: [{name: dashboard, rules: [\n'
  sed -n 's/^ *"expr": \("[^\n]*"\),*$/{record: panel, expr: \1},/p' dashboard.json |
    sed 's/\$__rate_interval/5m/g; s/\$__range/6h/g; s/\$[a-z]*/.*/g'
  printf ']}]\n'
} >"$work/dashboard.yml"
promtool check rules --lint=none "$work/dashboard.yml"

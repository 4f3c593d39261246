{{- define "headroom.labels" -}}
app.kubernetes.io/name: headroom
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- define "headroom.selector" -}}
app.kubernetes.io/name: headroom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- /* Roles of the whole cluster are named after the namespace too, so that two releases do not share one. */ -}}
{{- define "headroom.clusterRole" -}}
{{ printf "headroom-%s" .Release.Namespace | trunc 63 | trimSuffix "-" }}
{{- end }}

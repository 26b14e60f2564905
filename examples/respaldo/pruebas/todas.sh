#!/bin/sh
# Ejecuta respaldo.sh como lo hace la gente, en una carpeta temporal.
set -u
programa="$(cd "$(dirname "$0")/.." && pwd)/respaldo.sh"
carpeta="$(mktemp -d)"
trap 'rm -rf "$carpeta"' EXIT
cd "$carpeta" || exit 1
fallos=0

espera() {
  if [ "$2" = "$3" ]; then
    echo "bien: $1"
  else
    echo "MAL: $1: se esperaba «$2», salió «$3»"
    fallos=$((fallos + 1))
  fi
}

mkdir -p "mis cosas"
echo hola > "mis cosas/nota.txt"

espera "dice dónde está la copia" "copias/mis cosas-2025-04-01" "$(sh "$programa" "mis cosas" copias 2025-04-01)"
espera "la copia tiene lo mismo" "hola" "$(cat "copias/mis cosas-2025-04-01/nota.txt")"
sh "$programa" "mis cosas" copias 2025-04-01 2> error.txt
espera "no pisa una copia" 1 $?
espera "y lo dice" "respaldo: ya existe copias/mis cosas-2025-04-01" "$(cat error.txt)"
sh "$programa" "otras cosas" copias 2> error.txt
espera "sin origen no hay copia" 1 $?
sh "$programa" 2> error.txt
espera "sin argumentos dice cómo se usa" 2 $?

[ "$fallos" -eq 0 ]

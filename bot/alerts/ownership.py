"""Whether a frame of a stack trace lies in the company's own code, told by its file."""

from __future__ import annotations

import re

# Where runtimes, package managers and build tools put what somebody else wrote.
_ELSEWHERE = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|bower_components|vendor|gems|rubygems|Pods|Carthage|SourcePackages"
    r"|\.venv|\.cargo/registry|\.rustup|rustc/[0-9a-f]{6,}|pkg/mod|nuget|\.nuget/packages|lib/ruby|rubies"
    r"|lib(?:64)?/python\d[\d.]*|usr/lib|internal/(?:process|modules|timers|streams|deps)|webpack/(?:bootstrap|runtime))/"
    r"|^node:|^internal/|^<frozen |^<string>|^<anonymous>|^_COROUTINE/|(?:^"
    r"|/)(?:usr/local/)?go(?:root)?(?:\d[\d.]*)?/src/"
    r"|^library/(?:std|core|alloc)/src/|^Python\d+/Lib/|^_/src/|^dotnet/|^src/runtime/|^runtime/"
    r"|-extension/|^(?:importlib|asyncio|threading|concurrent)/",
)
_CDN_SCRIPT = re.compile(
    r"(?:^|/)(?:vendors?|polyfills?|framework|runtime|webpack-runtime|react-dom|jquery)[.~-][\w.~-]*js$"
)
_JVM = re.compile(r"\.(?:java|kts?|scala|groovy|clj)$|\.$")
_JVM_ELSEWHERE = (
    "_COROUTINE/",
    "java/",
    "javax/",
    "jakarta/",
    "jdk/",
    "sun/",
    "com/sun/",
    "j/util/",
    "j/time/",
    "kotlin/",
    "kotlinx/",
    "scala/",
    "groovy/",
    "org/codehaus/",
    "org/springframework/",
    "org/apache/",
    "org/hibernate/",
    "org/eclipse/",
    "org/jboss/",
    "org/junit/",
    "org/slf4j/",
    "org/postgresql/",
    "org/mariadb/",
    "org/mybatis/",
    "org/aspectj/",
    "org/thymeleaf/",
    "org/quartz/",
    "org/mockito/",
    "org/flywaydb/",
    "org/redisson/",
    "org/elasticsearch/",
    "org/opensearch/",
    "org/bson/",
    "org/jooq/",
    "org/gradle/",
    "org/h2/",
    "org/modelmapper/",
    "org/infinispan/",
    "org/glassfish/",
    "org/xnio/",
    "org/wildfly/",
    "ch/qos/logback/",
    "com/zaxxer/",
    "com/fasterxml/",
    "com/mysql/",
    "com/mongodb/",
    "com/microsoft/sqlserver/",
    "com/google/common/",
    "com/google/gson/",
    "com/google/inject/",
    "com/google/protobuf/",
    "com/google/android/",
    "com/google/firebase/",
    "com/google/cloud/",
    "com/google/api/",
    "com/squareup/",
    "com/querydsl/",
    "com/amazonaws/",
    "com/netflix/",
    "com/github/benmanes/",
    "com/newrelic/",
    "com/p6spy/",
    "com/ibm/",
    "com/oracle/",
    "com/rabbitmq/",
    "com/linecorp/armeria/",
    "com/android/",
    "oracle/jdbc/",
    "oracle/net/",
    "software/amazon/",
    "io/netty/",
    "io/grpc/",
    "io/micrometer/",
    "io/reactivex/",
    "io/lettuce/",
    "io/vertx/",
    "io/quarkus/",
    "io/undertow/",
    "io/opentelemetry/",
    "io/github/resilience4j/",
    "io/jsonwebtoken/",
    "io/ktor/",
    "io/micronaut/",
    "io/confluent/",
    "io/awspring/",
    "reactor/",
    "rx/",
    "okhttp3/",
    "okio/",
    "retrofit2/",
    "feign/",
    "android/",
    "androidx/",
    "dalvik/",
    "libcore/",
    "redis/clients/",
    "net/bytebuddy/",
    "net/sf/cglib/",
    "javassist/",
    "antlr/",
    "freemarker/",
    "brave/",
    "zipkin2/",
    "datadog/",
    "lombok/",
    "arrow/core/",
    "akka/",
    "play/",
)


def is_in_app(file: str, symbol: str | None) -> bool:
    """False for the runtime, frameworks and installed packages. Of a file nothing is known of, True."""
    if _JVM.search(file):
        return not file.startswith(_JVM_ELSEWHERE) and "GeneratedMethodAccessor" not in file
    if _ELSEWHERE.search(file) or _CDN_SCRIPT.search(file):
        return False
    return not (symbol or "").startswith(("std::", "core::", "alloc::", "tokio::"))
